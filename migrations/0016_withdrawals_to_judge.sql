-- Staff approve and pay out where a rule stops withdrawals only what has been judged: whether a withdrawal waits for that is asked by
-- its id, however much else waits.
CREATE INDEX compliance_effects_withdrawals ON compliance_effects (subject_id) WHERE kind = 'withdrawal';

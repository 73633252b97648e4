-- Names are compared in ASCII letters, in any order and by parts: what players are known by is written anew, once, without judging anybody.
INSERT INTO compliance_effects (kind, player_id, at) SELECT 'known', id, created_at FROM players ORDER BY id;

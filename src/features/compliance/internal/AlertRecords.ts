/** Reads stored alerts together with their players, in the form of the staff API. */
import { recordsOf } from "../../../store/Records.ts"
import { Alert } from "../../../contract/compliance/StaffApi.ts"

/** `a` is the alert, `p` its player. */
export const makeAlertRecords = recordsOf("compliance_alerts", Alert, {
  from: "compliance_alerts a JOIN players p ON p.id = a.player_id",
  reads: {
    id: "a.id",
    operator_id: "a.operator_id",
    status: "a.status",
    payment_id: "a.payment_request_id",
    created_at: "a.created_at",
    updated_at: "a.updated_at"
  },
  computed: {
    username: "p.username",
    stops_withdrawals: `a.hold <> 'none' AND a.status <> 'closed' AND NOT p.withdrawal_holds @>
      jsonb_build_array(jsonb_build_object('alertId', a.id, 'isLifted', true))`
  }
})

// Upper bound of plain Node.js with the same signed traffic: parse, verify, answer, without decisions or storage.
import { createServer } from "node:http"
import { announce } from "./Announce.ts"
import { ProviderCalls } from "./ProviderCalls.ts"

const calls = new ProviderCalls([[process.env["PROVIDER_KEY"] ?? "", process.env["PROVIDER_SECRET"] ?? ""]])
let walletSeq = 0

interface Bet {
  readonly request_id: string
  readonly transaction_id: string
  readonly amount: number
  readonly currency: string
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const raw = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    const refusal = calls.refusal(request.method ?? "", request.url ?? "", request.headers, raw)
    const bet: Bet = JSON.parse(raw.toString("utf8"))
    const body = refusal === undefined
      ? JSON.stringify({
        data: {
          request_id: bet.request_id,
          transaction_id: bet.transaction_id,
          status: "processed",
          wallet_transaction_ids: [++walletSeq],
          real_amount: -bet.amount,
          bonus_amount: 0,
          balance: 0,
          bonus_balance: 0,
          currency: bet.currency,
          wallet_seq: walletSeq,
          round_state: "open"
        }
      })
      : JSON.stringify({ error: { code: refusal, message: refusal, details: {} } })
    response.writeHead(refusal === undefined ? 200 : 401, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body)
    })
    response.end(body)
  })
})

server.listen(0, "127.0.0.1", () => announce(server))

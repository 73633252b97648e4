import { Console, Effect } from "effect"
import { basename } from "node:path"
import type { BenchError } from "../BenchError.ts"
import { renderHtml } from "../report/Html.ts"
import { type Findings, makeResult, type Result, toJson, writeReport } from "../report/Result.ts"
import { renderText } from "../report/TextReport.ts"

/** Prints what a scenario found and writes it down, as data and as a page. */
export const publish = Effect.fnUntraced(function*(findings: Findings): Effect.fn.Return<Result, BenchError> {
  const result = makeResult(findings)
  yield* Console.log(`\n${renderText(result)}`)
  const json = yield* writeReport(result.started_at, `${result.scenario}.json`, toJson(result))
  const html = yield* writeReport(result.started_at, `${result.scenario}.html`, renderHtml([result]))
  yield* Console.log(`\nwritten to ${json} and ${basename(html)}`)
  return result
})

/** Says what comes and how long it will take, so that nobody wonders whether it hangs. */
export const announce = (what: string, seconds: number): Effect.Effect<void> => {
  const minutes = seconds / 60
  const length = seconds < 90 ? `${Math.ceil(seconds)} s` : `${minutes.toFixed(minutes < 10 ? 1 : 0)} min`
  return Console.log(`${what}: about ${length}`)
}

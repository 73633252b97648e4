import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../src/service.ts"
import { layerBothServers, layerCasinos } from "../kit/Backoffice.ts"
import { dataOf, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { raisedAlert } from "../kit/commands/Scene.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: staff actions on one alert, one delivery or one bonus take effect where it counts. Method: over HTTP; a sink for webhooks.

layer(layerCasinos, { excludeTestServices: true })("alerts and bonuses", (it) => {
  it.effect("an alert is assigned only to staff who may work on it, and staff decide whether it holds withdrawals", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      const { run } = yield* Compliance
      yield* run
      const officer = yield* made("/staff", { name: "Olga Officer", role: "compliance" })
      const payer = yield* made("/staff", { name: "Pia Payer", role: "payments" })
      const as = (path: string, body?: unknown) =>
        staffCall(body === undefined ? "GET" : "POST", `/backoffice/v1${path}`, body, {
          authorization: `Bearer ${officer.token}`,
          "content-type": "application/json"
        })
      const refused = yield* as(`/alerts/${alert}/assign`, { staff: String(payer.id) })
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["staff"]])
      assert.strictEqual(dataOf(yield* as(`/alerts/${alert}/assign`, { staff: "me" })).assigned_to, officer.id)
      const idsOf = (query: string) =>
        Effect.map(
          as(`/alerts?player=${player}&${query}`),
          ({ data }) => data.map(({ id }: { readonly id: number }) => id)
        )
      assert.deepStrictEqual(yield* idsOf("assigned_to=me"), [alert])
      assert.deepStrictEqual(yield* idsOf("assigned_to=none"), [])

      // whatever the rule decided: released, held, released
      yield* as(`/alerts/${alert}/release`, { reason: "known" })
      dataOf(yield* casino.withdraw(player, 100), 201)
      const held = dataOf(yield* as(`/alerts/${alert}/hold`, { reason: "asked for papers" }))
      assert.strictEqual(held.stops_withdrawals, true)
      assert.strictEqual((yield* casino.withdraw(player, 100)).status, 422)
      yield* run
      assert.strictEqual((yield* casino.withdraw(player, 100)).status, 422)
      dataOf(yield* as(`/alerts/${alert}/release`, { reason: "papers came" }))
      yield* run
      dataOf(yield* casino.withdraw(player, 100), 201)

      const lines = yield* staff("GET", `/audit?player=${player}&staff=${officer.id}`)
      const actions = new Set(lines.map(({ action }: { readonly action: string }) => action))
      for (const action of ["alert.assign", "alert.hold", "alert.release", "player.hold"]) {
        assert.isTrue(actions.has(action), action)
      }
      yield* staff("PATCH", `/alerts/${alert}`, { status: "closed" })
      const late = yield* as(`/alerts/${alert}/hold`, { reason: "again" })
      assert.deepStrictEqual([late.code, Object.keys(late.details)], ["VALIDATION_FAILED", ["status"]])
    }))

  it.effect("a bonus shows its terms in words, its grants and its remaining liability", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ type: "no_deposit", contributions: { [casino.table.id]: 0 } })
      const { id } = yield* casino.register()
      const first = dataOf(yield* casino.grant(id, bonus.id), 201)
      const second = dataOf(yield* casino.grant(id, bonus.id, { amount: 700 }), 201)
      const shown = yield* staff("GET", `/bonuses/${bonus.id}`)
      assert.deepInclude(shown.liability[0], { currency: "EUR", running: 2, amount: 1200 })
      assert.include(shown.terms.join(" "), `Bonus money cannot be staked on ${casino.table.name}`)
      assert.include(shown.terms.join(" "), "stakes of 50.00 EUR in all")
      const path = `/backoffice/v1/bonuses/${bonus.id}/grants?per_page=1`
      const page = yield* staffCall("GET", path)
      const next = yield* staffCall("GET", `${path}&cursor=${page.meta.next_cursor}`)
      assert.sameMembers([page.data[0].id, next.data[0].id], [first.id, second.id])
      assert.isNull(next.meta.next_cursor)
      const running = yield* staffCall("GET", `${path}&state=activated`)
      assert.deepStrictEqual(running.data.map((grant: { readonly id: number }) => grant.id), [first.id])
    }))
})

layer(layerWebhooks.pipe(Layer.provideMerge(layerBothServers)), { excludeTestServices: true })("webhooks", (it) => {
  it.effect(
    "show each delivery's request and response, and redeliver the events since a given time",
    () =>
      Effect.gen(function*() {
        const { flush } = yield* WebhookSender
        const casino = yield* openCasino()
        const sink = yield* makeSink(() => (response) => response.writeHead(500).end("out of order"))
        const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url, events: ["deposit.paid"] })
        yield* Effect.addFinalizer(() => staffCall("PATCH", `/backoffice/v1/webhooks/${webhook.id}`, { active: false }))
        const { id } = yield* casino.register()
        for (const amount of [100, 200, 300]) dataOf(yield* casino.deposit(id, amount), 201)
        yield* flush
        const [newest] = yield* staff("GET", `/deliveries?webhook=${webhook.id}`)
        const shown = yield* staff("GET", `/deliveries/${newest.id}`)
        assert.deepInclude(shown.response, { status: 500, body: "out of order", error: "status" })
        assert.strictEqual(shown.request.headers["x-service-delivery"], String(newest.id))
        assert.isUndefined(shown.request.headers["x-service-signature"])
        const sent = sink.received.find(({ headers }) => headers["x-service-delivery"] === String(newest.id))
        assert.deepStrictEqual(JSON.parse(shown.request.body), JSON.parse(sent?.body ?? ""))

        sink.answer = () => 200
        const failing: ReadonlyArray<{ readonly id: number }> = yield* staff("GET", `/deliveries?webhook=${webhook.id}`)
        yield* Effect.forEach(failing, (delivery) => staff("POST", `/deliveries/${delivery.id}/retry`))
        yield* flush
        const before = sink.received.length
        const again = (body: object) => staff("POST", `/webhooks/${webhook.id}/redeliver`, body)
        assert.deepInclude(yield* again({ since: "2099-01-01T00:00:00Z" }), { queued: 0, has_more: false })
        assert.deepInclude(yield* again({ since: "2020-01-01T00:00:00Z", status: "failed" }), { queued: 0 })
        assert.deepInclude(yield* again({ since: "2020-01-01T00:00:00Z", status: "delivered" }), { queued: 3 })
        yield* flush
        assert.strictEqual(sink.received.length, before + 3)
        const foreign = yield* staffCall(
          "POST",
          `/backoffice/v1/webhooks/${webhook.id}/redeliver?operator=${(yield* openCasino()).slug}`,
          { since: "2020-01-01T00:00:00Z" }
        )
        assert.strictEqual(foreign.status, 404)
      }).pipe(Effect.scoped),
    60_000
  )
})

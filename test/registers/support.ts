/** A question, and a register asked over its wire. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import type { RegisterKind } from "../../src/domain/register/Register.ts"
import { RegisterHttp } from "../../src/features/registers/RegisterHttp.ts"
import { type HostAddress, Resolver } from "../../src/platform/Resolver.ts"
import { Settings } from "../../src/platform/Settings.ts"
import type { BoundRegister, BoundSettings, Person, Question, RegisterResponse } from "../../src/registers/Register.ts"
import { registers } from "../../src/registers/Registers.ts"

/** Somebody whom every register can be asked about, each with its own number. */
export const ada: Person = {
  firstName: "Ada",
  lastName: "Möller <&\"'>",
  lastNamePrefix: null,
  birthName: null,
  birthPlace: null,
  birthDate: "1980-01-01",
  email: "ada@example.com",
  phone: null,
  postcode: "SW1A 1AA",
  personalId: null,
  registerCode: null
}

export const numbers = {
  gamstop: null,
  spelpaus: "19800101-9879",
  rofus: "010180-1234",
  cruks: "123456782",
  oasis: null,
  generic: "ID 7"
} as const

export const question = (person: Partial<Person> = {}, more: Partial<Question> = {}): Question => ({
  requestId: "6f1c1a0e-6f3c-4b7e-9f6e-0d2f0c1b2a3d",
  event: "login",
  at: Date.UTC(2026, 10, 28, 17, 5, 2, 314),
  person: { ...ada, ...person },
  ...more
})

export const response = (
  body: string,
  headers: { readonly [name: string]: string } = {},
  status = 200
): RegisterResponse => ({ status, header: (name) => headers[name], body })

export const bound = (kind: RegisterKind, settings: unknown): BoundSettings => {
  const found = registers[kind].bind(settings)
  if (Result.isSuccess(found)) return found.success
  return assert.fail(found.failure.message)
}

/** The way to ask about many at once, of a register that has one. */
export const batchOf = ({ batch }: BoundRegister) => batch ?? assert.fail("it has no batch")

const local = Layer.succeed(Resolver, {
  resolve: () => Effect.succeed<ReadonlyArray<HostAddress>>([{ address: "127.0.0.1", family: 4 }])
})

export const layerHttp = (registerAllowInsecure = true) =>
  RegisterHttp.layer.pipe(Layer.provide(local), Layer.provide(Settings.layerTest({ registerAllowInsecure })))

/** A fake register, and a client of it. */
export const connected = Effect.fnUntraced(function*(kind: RegisterKind, isPlain = false) {
  const fake = yield* makeFakeRegister({ kind, isPlain })
  const { register, tls } = bound(kind, fake.settings)
  const client = yield* (yield* RegisterHttp).open(tls)
  const ask = (asked: Question, deadlineMs = 5000) =>
    Effect.map(client.send(register.request(asked), deadlineMs), (given) => register.read(asked, given))
  return { fake, register, client, ask }
})

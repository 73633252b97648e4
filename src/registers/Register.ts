/**
 * Interface of exclusion registers: pure functions between a question about a person and a national register's wire format, one file per format.
 * When to ask, what an answer decides and how long a query may take is up to the caller (`features/registers`).
 */
import { Result, Schema } from "effect"
import type { ConnectionKind, Hit, QuestionEvent, RegisterVerdict } from "../domain/register/Register.ts"

/** Whom a question is about. Texts as the player gave them, null where not known. */
export interface Person {
  readonly firstName: string | null
  readonly lastName: string | null
  readonly lastNamePrefix: string | null
  readonly birthName: string | null
  readonly birthPlace: string | null
  /** YYYY-MM-DD. */
  readonly birthDate: string | null
  readonly email: string | null
  /** E.164. */
  readonly phone: string | null
  readonly postcode: string | null
  readonly personalId: string | null
  /** The register's own code of the person, from an earlier answer. */
  readonly registerCode: string | null
  /** ISO 3166-1; a screening asks for it. */
  readonly country?: string
}

export interface Question {
  /** New for each question: a UUID. */
  readonly requestId: string
  readonly event: QuestionEvent
  /** Epoch milliseconds. */
  readonly at: number
  readonly person: Person
}

/** A POST. */
export interface RegisterRequest {
  readonly url: string
  /** Names in lower case; `content-type` included. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** The answer is about many persons: at most one megabyte instead of 64 KiB. */
  readonly isBatch?: boolean
}

export interface RegisterResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** What a response says. Whatever is not a proper answer to the question is a fault, and never a verdict. */
export type Answer =
  | {
    readonly _tag: "Answered"
    readonly verdict: RegisterVerdict
    /** The register's id of its answer, the proof that it was asked. */
    readonly responseId: string | null
    /** The register's own code of the person, to ask with from then on. */
    readonly registerCode: string | null
    /** Of a screening: whom it found. */
    readonly hits?: ReadonlyArray<Hit>
  }
  | {
    readonly _tag: "Fault"
    /** One line of at most 200 characters without anything personal: `HTTP 503`, `another request_id`. */
    readonly fault: string
  }

/** Fields of a registration and what is wrong with each, as VALIDATION_FAILED names them; empty when the person can be asked about. */
export type PersonProblems = { readonly [field: string]: ReadonlyArray<string> }

/** A register bound to the settings of one connection. */
export interface BoundRegister {
  readonly request: (question: Question) => RegisterRequest
  readonly read: (question: Question, response: RegisterResponse) => Answer
  /** Many persons in one request, for audiences and refreshes. */
  readonly batch?: {
    /** Events that may be asked in a batch. */
    readonly events: ReadonlyArray<QuestionEvent>
    readonly maxQuestions: number
    /** Between the beginnings of two requests. */
    readonly everyMs: number
    readonly request: (questions: ReadonlyArray<Question>) => RegisterRequest
    /** One answer per question, in order. */
    readonly read: (questions: ReadonlyArray<Question>, response: RegisterResponse) => ReadonlyArray<Answer>
  }
}

/** Settings that every kind has beside its own: PEM texts for mutual TLS, and the authority that signed the register's certificate. */
export interface TlsSettings {
  readonly client_certificate?: string | undefined
  readonly client_key?: string | undefined
  readonly ca?: string | undefined
}

export interface Register<Settings extends TlsSettings = TlsSettings> {
  readonly kind: ConnectionKind
  /** Fields that end in `url` are addresses, which the caller checks. */
  readonly settings: Schema.Codec<Settings, unknown>
  /** Settings that are sealed and never shown. */
  readonly secrets: ReadonlyArray<string & keyof Settings>
  /** What the register needs to know of a person and what is impossible, before anything is asked: an impossible number is "not excluded" to some. */
  readonly problems: (person: Person) => PersonProblems
  readonly bind: (settings: Settings) => BoundRegister
}

/** A connection's settings in use. */
export interface BoundSettings {
  readonly register: BoundRegister
  readonly tls: TlsSettings
}

/** Register with the type of its settings hidden. */
export interface AnyRegister extends Pick<Register, "kind" | "problems"> {
  /** Form of the settings, for what draws them. */
  readonly form: Schema.Top["ast"]
  readonly secrets: ReadonlyArray<string>
  /** Binds the register to unparsed settings, or returns all validation errors; an unknown setting is an error. */
  readonly bind: (given: unknown) => Result.Result<BoundSettings, Schema.SchemaError>
}

/** Hides the type of a register's settings, for the list of registers. */
export const anyRegister = <Settings extends TlsSettings>(
  { bind, kind, problems, secrets, settings }: Register<Settings>
): AnyRegister => {
  const decode = Schema.decodeUnknownResult(settings, { errors: "all", onExcessProperty: "error" })
  return {
    kind,
    problems,
    form: settings.ast,
    secrets,
    bind: (given) =>
      Result.map(decode(given), (decoded) => {
        const { ca, client_certificate, client_key } = decoded
        return { register: bind(decoded), tls: { ca, client_certificate, client_key } }
      })
  }
}

/**
 * Adds a version of a jurisdiction profile from a document, pasted or from a file. Shows what it changes before it is sent, and its outcome
 * afterwards.
 */
import { Button, FileButton, Group, Stack, Text, Textarea } from "@mantine/core"
import { Option, Schema } from "effect"
import { differencesOf } from "../../domain/jurisdiction/Differences.ts"
import { Profile } from "../../domain/jurisdiction/Profile.ts"
import type { Data } from "../app/api.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import type { Field, OwnInput } from "../parts/Fields.tsx"
import { PageLink, useInstantText } from "../parts/Values.tsx"
import { Differences } from "./Differences.tsx"

/** The object that a text of JSON is; undefined for any other text. */
const readDocument = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const readProfile = Schema.decodeUnknownOption(Profile)

/** Largest file that is read, bytes: a profile has some kilobytes. */
const largestFile = 1_000_000

function DocumentInput({ error, label, onChange, value }: OwnInput) {
  const read = (file: File | null): void => {
    if (file === null) return
    if (file.size > largestFile) onChange(`${file.name} is too large for a profile`)
    else void file.text().then(onChange)
  }
  return (
    <Stack gap="xs">
      <Group justify="flex-end">
        <FileButton onChange={read} accept="application/json,.json">
          {(props) => <Button {...props} size="compact-sm" variant="default">Choose a file</Button>}
        </FileButton>
      </Group>
      <Textarea
        label={label}
        withAsterisk
        error={error}
        autosize
        minRows={8}
        maxRows={16}
        spellCheck={false}
        styles={{ input: { fontFamily: "monospace" } }}
        value={typeof value === "string" ? value : ""}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        data-autofocus
      />
    </Stack>
  )
}

const documentOf = (value: unknown): Record<string, unknown> | undefined => Option.getOrUndefined(readDocument(value))

const fieldOf = (initial: string): Field => ({
  name: "document",
  label: "Document",
  kind: "own",
  required: true,
  initial,
  draw: (input) => <DocumentInput {...input} />,
  problemOf: (value) => documentOf(value) === undefined ? "Not a document: JSON in braces is one" : undefined
})

/** What the document changes of the profile that counts now. */
function Preview({ current, text }: { readonly current: Data<"profile.show"> | undefined; readonly text: unknown }) {
  const document = documentOf(text)
  const { valid_from: _from, version: _version, ...rules } = document ?? {}
  const next = Option.getOrUndefined(readProfile(rules))
  if (current === undefined || next === undefined) return null
  const differences = differencesOf(current.document, next)
  return (
    <div aria-live="polite">
      <Text size="sm" mb="xs">
        {differences.length === 0
          ? `Nothing differs from version ${current.version}, which counts now.`
          : `What differs from version ${current.version}, which counts now:`}
      </Text>
      {differences.length > 0 && <Differences differences={differences} currency={next.currency} />}
    </div>
  )
}

function Imported({ version }: { readonly version: Data<"profile.import"> }) {
  const date = useInstantText()
  const { code, differences, looser_from: looser, status, valid_from: from } = version
  return (
    <Stack gap="xs">
      <Text size="sm">
        <PageLink to={`/profiles/${code}?version=${version.version}`}>
          {`Version ${version.version} of ${code}`}
        </PageLink>{" "}
        {status === "proposed"
          ? "waits until somebody else approves it; nothing has changed yet."
          : `counts from ${date(from)}.`}
        {status === "approved" && looser !== from && ` What is looser counts from ${date(looser)}.`}
      </Text>
      <Text size="sm">
        {differences.length === 0
          ? "It differs in nothing from what counts then."
          : `It has ${differences.length === 1 ? "one difference" : `${differences.length} differences`}, of which ${
            differences.filter(({ effect }) => effect === "looser").length
          } looser.`}
      </Text>
    </Stack>
  )
}

/** `current`: the profile that the document begins with, and that it is compared with; absent for another one. */
export function ImportProfile({ current }: { readonly current?: Data<"profile.show"> }) {
  const { valid_from: _from, version: _version, ...document } = current?.document ?? {}
  return (
    <ActionButton
      action="profile.import"
      label={current === undefined ? "Import profile" : "New version"}
      fields={[fieldOf(current === undefined ? "" : JSON.stringify(document, null, 2))]}
      toPayload={({ document: text }) => documentOf(text) ?? {}}
      explanation="Adds a version; none is ever changed. One of a built-in profile waits for somebody else's approval, and so does a looser one of a profile in use."
      preview={({ document: text }) => <Preview current={current} text={text} />}
      size="xl"
      done="Version added"
      result={({ data }) => <Imported version={data} />}
      {...(current === undefined ? { button: { variant: "filled" } } : {})}
    />
  )
}

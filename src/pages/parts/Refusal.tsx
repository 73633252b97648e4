/** Alert for a refusal by the service, and placeholder for a query without an answer. */
import { Alert, Button, Code, Group, Loader, Text } from "@mantine/core"
import { Refused } from "../app/api.ts"

/** Shows a refusal with its message, code and fields. */
export function Refusal({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  const refused = error instanceof Refused ? error : undefined
  const fields = refused?.code === "VALIDATION_FAILED" ? Object.entries(refused.details) : []
  const reason = refused?.details["reason"]
  const vendor = refused?.details["vendor"]
  return (
    <Alert color="red" variant="light" role="alert">
      <Text size="sm">{error.message} {refused !== undefined && <Code>{refused.code}</Code>}</Text>
      {fields.map(([name, messages]) => (
        <Text size="sm" key={name}>
          <b>{name}</b> {Array.isArray(messages) ? messages.join("; ") : String(messages)}
        </Text>
      ))}
      {typeof vendor === "string" && (
        <Text size="sm">
          Answer of the vendor: <Code>{vendor}</Code>
        </Text>
      )}
      {reason === "second_factor_required" && (
        <Text size="sm">
          <a href="/account">Set up a second factor</a>, then repeat this.
        </Text>
      )}
      {again !== undefined && (
        <Group mt="xs">
          <Button size="compact-sm" variant="default" onClick={again}>Try again</Button>
        </Group>
      )}
    </Alert>
  )
}

/** Placeholder of a missing answer: loading, or the error. */
export function Waiting(
  { query }: { readonly query: { readonly error: Error | null; readonly refetch: () => unknown } }
) {
  return query.error === null
    ? <Loader size="sm" role="status" aria-label="Loading" />
    : <Refusal error={query.error} again={() => void query.refetch()} />
}

/** Values shown once: a secret, a token, a link. */
import { Alert, Button, Code, CopyButton, Group, Text } from "@mantine/core"

/** Value that cannot be shown again, with a copy button. */
export function OneTimeValue({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Alert color="orange" variant="light" title={`${label}: shown now and never again`}>
      <Group wrap="nowrap" align="flex-start">
        <Code block style={{ wordBreak: "break-all", whiteSpace: "pre-wrap" }}>{value}</Code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy}>{copied ? "Copied" : "Copy"}</Button>
          )}
        </CopyButton>
      </Group>
      <Text size="sm" mt="xs">Keep it where secrets are kept. Pitboss holds only what it takes to check it.</Text>
    </Alert>
  )
}

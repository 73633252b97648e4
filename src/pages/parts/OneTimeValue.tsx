/** Values shown once: a secret, a token, a link. */
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { useOneTime } from "./Closing.tsx"

const copy = (text: string): Promise<boolean> => navigator.clipboard.writeText(text).then(() => true, () => false)

/** Button that copies a value which can be seen at any time. */
export function CopyValue({ label, value }: { readonly label: string; readonly value: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Group gap="xs" wrap="nowrap">
      <Code data-copy={value} style={{ overflowWrap: "anywhere" }}>{value}</Code>
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        aria-label={`Copy ${label}`}
        onClick={() => void copy(value).then(setCopied)}
      >
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </Group>
  )
}

/** Gives a text to the browser as a file. */
const save = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  const link = Object.assign(document.createElement("a"), { href: address, download: name })
  link.click()
  URL.revokeObjectURL(address)
}

/**
 * Value that cannot be shown again, to copy or to save. `of`: what it belongs to, in the file beside it, such as the key of a secret; its first value names
 * the file.
 */
export function OneTimeValue(
  { label, of = {}, value }: {
    readonly label: string
    readonly value: string
    readonly of?: Readonly<Record<string, string>>
  }
) {
  const [kept, setKept] = useState<"copied" | "saved">()
  const [isRefused, setRefused] = useState(false)
  const keep = async () => {
    const isCopied = await copy(value)
    setRefused(!isCopied)
    if (isCopied) setKept("copied")
    return isCopied
  }
  useOneTime(kept !== undefined, keep)
  const name = label.toLowerCase().replaceAll(/\W+/g, "_")
  const [first = name] = Object.values(of)
  return (
    <Alert color="orange" variant="light" title={`${label}: shown now and never again`}>
      <Stack gap="xs">
        <Code
          block
          style={{ wordBreak: "break-all", whiteSpace: "pre-wrap" }}
          onCopy={() => setKept("copied")}
        >
          {value}
        </Code>
        {Object.entries(of).map(([key, text]) => (
          <Group key={key} gap="xs">
            <Text size="sm">{key.replace(/^./, (letter) => letter.toUpperCase())}</Text>
            <Code data-copy={text} style={{ overflowWrap: "anywhere" }}>{text}</Code>
          </Group>
        ))}
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => void keep()}
          >
            {kept === "copied" ? "Copied" : "Copy"}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              save(
                `${first.replaceAll(/[^\w.-]+/g, "_")}.json`,
                `${JSON.stringify({ ...of, [name]: value }, null, 2)}\n`
              )
              setKept("saved")
            }}
          >
            {kept === "saved" ? "Saved" : "Save as file"}
          </Button>
        </Group>
        <Text size="sm" aria-live="polite">
          {isRefused
            ? "The browser refused to copy: mark the text and copy it, or save it as a file."
            : "Keep it where secrets are kept. Pitboss holds only what it takes to check it."}
        </Text>
      </Stack>
    </Alert>
  )
}

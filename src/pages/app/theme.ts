/** Colours and sizes. Contrasts meet WCAG 2.2 AA in light and dark. */
import {
  Anchor,
  Button,
  createTheme,
  type CSSVariablesResolver,
  Modal,
  ModalHeader,
  Notification,
  PasswordInput,
  Radio,
  Switch
} from "@mantine/core"

export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif",
  components: {
    // a header element would be announced as a second banner of the page
    ModalHeader: ModalHeader.extend({ defaultProps: { role: "none" } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { "aria-label": "Dismiss" } } }),
    Button: Button.extend({ defaultProps: { fw: 500 } }),
    // as high as a target has to be
    Radio: Radio.extend({ vars: () => ({ root: { "--radio-size": "1.5rem" } }) }),
    Switch: Switch.extend({ vars: () => ({ root: { "--switch-height": "1.5rem" } }) }),
    Modal: Modal.extend({
      defaultProps: { closeButtonProps: { "aria-label": "Close" } },
      styles: { title: { fontWeight: 600 } }
    }),
    // not labelled like the field: a label must identify one element
    PasswordInput: PasswordInput.extend({
      defaultProps: {
        visibilityToggleButtonProps: { "aria-label": "Show what is typed" },
        visibilityToggleFocusable: true
      }
    }),
    Anchor: Anchor.extend({ defaultProps: { underline: "always" } })
  }
})

const colors = ["teal", "green", "blue", "orange", "red", "gray"]

/** Text on the tinted backgrounds of badges, alerts and the current page, where the palette's own has too little contrast. */
const onTint = (tone: string): Record<string, string> =>
  Object.fromEntries(
    colors.map((
      color
    ) => [`--mantine-color-${color}-light-color`, `color-mix(in srgb, var(--mantine-color-${color}-6), ${tone})`])
  )

/** Filled buttons under the pointer: the palette makes its darkest shade lighter, on which white text has too little contrast. */
const onHover = Object.fromEntries(
  colors.map((color) => [
    `--mantine-color-${color}-filled-hover`,
    `color-mix(in srgb, var(--mantine-color-${color}-9), black 12%)`
  ])
)

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...onTint("black 62%"),
    ...onHover,
    "--mantine-color-dimmed": "var(--mantine-color-gray-7)",
    "--mantine-color-placeholder": "var(--mantine-color-gray-7)",
    "--mantine-color-anchor": "color-mix(in srgb, var(--mantine-color-teal-9), black 20%)",
    "--mantine-color-error": "var(--mantine-color-red-9)",
    "--pitboss-negative": "var(--mantine-color-red-9)",
    "--pitboss-positive": "color-mix(in srgb, var(--mantine-color-green-9), black 25%)"
  },
  dark: {
    ...onTint("white 62%"),
    ...onHover,
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "var(--mantine-color-dark-1)",
    "--mantine-color-anchor": "var(--mantine-color-teal-3)",
    // as legible on the marked item of a menu
    "--mantine-color-error": "var(--mantine-color-red-3)",
    "--pitboss-negative": "var(--mantine-color-red-4)",
    "--pitboss-positive": "var(--mantine-color-green-4)"
  }
})

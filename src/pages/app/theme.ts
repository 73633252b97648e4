/** Colours and sizes. Contrasts reach WCAG 2.2 AA in light and dark. */
import { Badge, createTheme, type CSSVariablesResolver } from "@mantine/core"

export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  defaultRadius: "sm",
  cursorType: "pointer",
  fontFamily: "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif",
  components: { Badge: Badge.extend({ defaultProps: { tt: "none", fw: 500, radius: "sm" } }) }
})

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "var(--mantine-color-gray-7)",
    "--mantine-color-placeholder": "var(--mantine-color-gray-7)",
    "--mantine-color-anchor": "var(--mantine-color-teal-9)",
    "--pitboss-negative": "var(--mantine-color-red-9)",
    "--pitboss-positive": "var(--mantine-color-green-9)",
    "--mantine-color-error": "var(--mantine-color-red-9)"
  },
  dark: {
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "var(--mantine-color-dark-1)",
    "--mantine-color-anchor": "var(--mantine-color-teal-3)",
    "--pitboss-negative": "var(--mantine-color-red-4)",
    "--pitboss-positive": "var(--mantine-color-green-4)",
    "--mantine-color-error": "var(--mantine-color-red-4)"
  }
})

import { type Browser, chromium } from "playwright-core"

/** Switches of the package that are for machines without room: one process for everything dies with the first tab that is closed. */
const unwanted =
  /^--(single-process|no-zygote|disable-web-security|allow-running-insecure-content|disable-site-isolation)/

/** Starts the Chromium of the npm package, without a window. `VERCEL` makes the package unpack the libraries that a bare machine lacks. */
export const launchChromium = async (): Promise<Browser> => {
  process.env["VERCEL"] ??= "1"
  const { default: packed } = await import("@sparticuz/chromium")
  return chromium.launch({
    executablePath: await packed.executablePath(),
    args: [
      ...packed.args.filter((argument) => !unwanted.test(argument)),
      "--disable-background-networking",
      "--disable-dev-shm-usage"
    ],
    headless: true
  })
}

import { type Browser, chromium } from "playwright-core"

/**
 * Switches of the package that are for machines without room, where one process for everything dies with the first tab that is closed, and for WebGL: an
 * emulated graphics card draws at several times the cost.
 */
const unwanted =
  /^--(single-process|no-zygote|disable-web-security|allow-running-insecure-content|disable-site-isolation|ignore-gpu-blocklist|in-process-gpu|use-gl|use-angle|enable-unsafe-swiftshader)/

/** Starts the Chromium of the npm package, without a window. `VERCEL` makes the package unpack the libraries that a bare machine lacks. */
export const launchChromium = async (): Promise<Browser> => {
  process.env["VERCEL"] ??= "1"
  const { default: packed } = await import("@sparticuz/chromium")
  return chromium.launch({
    executablePath: await packed.executablePath(),
    args: [
      ...packed.args.filter((argument) => !unwanted.test(argument)),
      "--disable-background-networking",
      "--disable-gpu",
      "--disable-dev-shm-usage"
    ],
    headless: true
  })
}

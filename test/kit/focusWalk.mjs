/**
 * Runs in a page: records the focused elements, their style with focus, and whether they are covered. `Focus.ts` presses the keys.
 * Elements added later, such as rows of a long list, are identified by tag and text.
 */
globalThis.focusWalk = (() => {
  // a colour on its way is neither the one nor the other
  const still = new CSSStyleSheet()
  still.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }")
  document.adoptedStyleSheets.push(still)

  const interactive = [
    "a[href]",
    "button",
    "input:not([type=hidden])",
    "select",
    "textarea",
    "summary",
    "[contenteditable=true]",
    ..."button link tab switch checkbox radio combobox slider menuitem option".split(" ").map((role) =>
      `[role=${role}]`
    )
  ].join(",")
  /** One member of these is reached by Tab, the others by arrow keys. */
  const composite = "[role=tablist], [role=radiogroup], [role=menu], [role=listbox]"

  const nameOf = (element) =>
    (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "").trim()
  const described = (element) =>
    `${element.getAttribute("role") ?? element.localName} "${nameOf(element).slice(0, 60)}"`

  /** Rendered elements of an element: a switch is drawn by its label. */
  const drawnOf = (element) => [element, ...(element.labels ?? [])]
  const isOffered = (element) =>
    element.closest("[aria-hidden=true], [inert]") === null && !element.matches(":disabled, [aria-disabled=true]") &&
    drawnOf(element).some((drawn) =>
      drawn.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      drawn.getBoundingClientRect().width > 0
    )
  const offered = () => [...document.querySelectorAll(interactive)].filter(isOffered)

  const marks = ["outline", "boxShadow", "borderColor", "backgroundColor", "textDecoration", "opacity"]
  const lookOf = (element) =>
    [element, element.nextElementSibling, element.parentElement, element.parentElement?.parentElement].map((part) => {
      if (!part) return ""
      const style = getComputedStyle(part)
      return marks.map((mark) => style[mark]).join(" ")
    }).join("|")

  const isCovered = (element) => {
    const whole = element.getBoundingClientRect()
    if (whole.width < 2 || whole.height < 2) return false
    // of what is larger than the window, such as a long table, the part that can be seen
    const [left, right] = [Math.max(whole.left, 0), Math.min(whole.right, innerWidth)]
    const [top, bottom] = [Math.max(whole.top, 0), Math.min(whole.bottom, innerHeight)]
    if (right <= left || bottom <= top) return true
    return ![[0.5, 0.5], [0.1, 0.5], [0.9, 0.5]].some(([x, y]) => {
      const hit = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y)
      return hit !== null &&
        (element.contains(hit) || hit.contains(element) || drawnOf(element).some((drawn) => drawn.contains(hit)))
    })
  }

  const known = new Set(offered())
  /** How it looked with the focus. */
  const seen = new Map()
  const said = new Set()
  const covered = []
  let first
  let isAround = false

  addEventListener("focusin", ({ target }) => {
    if (target === first) isAround = true
    first ??= target
    if (seen.has(target)) return
    seen.set(target, lookOf(target))
    said.add(described(target))
  })
  // by the next key it has been scrolled to where it stays
  addEventListener("keydown", () => {
    const element = document.activeElement
    if (element !== null && element !== document.body && !isAround && isCovered(element)) {
      covered.push(described(element))
    }
  }, { capture: true })

  const isReached = (element) =>
    seen.has(element) || (!known.has(element) && said.has(described(element))) ||
    (element.tabIndex < 0 && [...seen.keys()].some((other) => element.closest(composite)?.contains(other)))

  return {
    isAround: () => isAround,
    /** Faults as text. */
    faults: () => {
      const last = document.activeElement
      last?.blur()
      return [
        ...(isAround ? [] : [`the focus does not come round: it is at ${described(last)}`]),
        ...offered().filter((element) => !isReached(element)).map((element) =>
          `${described(element)} is not reached by Tab`
        ),
        ...[...seen].filter(([element, look]) =>
          element.isConnected && element.matches(interactive) && lookOf(element) === look
        )
          .map(([element]) => `${described(element)} looks the same with the focus`),
        ...covered.map((what) => `${what} has the focus under something else`)
      ]
    }
  }
})()

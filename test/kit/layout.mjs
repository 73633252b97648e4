/**
 * Runs in a page: finds what does not fit. `Layout.ts` sets the size of the window and asks.
 */
globalThis.layout = (() => {
  /** Below this width of the window nothing is cut: a finger does not hover, which would show the whole text. */
  const widthOfFingers = 768
  const smallestTarget = 24
  /** Rounding of positions, pixels. */
  const slack = 1

  const isDrawn = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const shorten = (text) => `"${text.trim().replaceAll(/\s+/g, " ").slice(0, 60)}"`
  /** Text for screen readers alone. */
  const isForEars = (element) => {
    const { clipPath, position } = getComputedStyle(element)
    return position === "absolute" && clipPath.startsWith("inset(50%")
  }

  /** What is in front: a dialog that is open, else the page. */
  const shown = () => {
    const dialog = [...document.querySelectorAll("[role=dialog]")].findLast(isDrawn)
    return dialog ?? document.body
  }

  const isWider = () => {
    const { scrollWidth } = document.documentElement
    if (scrollWidth <= innerWidth) return []
    const [widest] = [...document.body.querySelectorAll("*")].filter((element) =>
      element.getBoundingClientRect().right > innerWidth + slack
    ).slice(-1)
    return [`the page is ${scrollWidth} px wide, by ${widest?.localName} ${shorten(widest?.textContent ?? "")}`]
  }

  const cells = "td, th, button, dd, dt, label"

  /** Why a text is not all to be seen, or undefined. */
  const faultOf = (text, rect) => {
    let isInCell = true
    for (let box = text.parentElement; box !== null && box !== document.body; box = box.parentElement) {
      if (isForEars(box)) return undefined
      const { overflowX, overflowY, position } = getComputedStyle(box)
      const edges = box.getBoundingClientRect()
      const isBeside = rect.right > edges.right + slack || rect.left < edges.left - slack
      const isBelow = rect.bottom > edges.bottom + 4 || rect.top < edges.top - 4
      const clips = (value) => value === "hidden" || value === "clip"
      if ((clips(overflowX) && isBeside) || (clips(overflowY) && isBelow)) {
        return innerWidth > widthOfFingers &&
            text.parentElement.closest("[title]")?.title.includes(text.textContent.trim())
          ? undefined
          : "is cut"
      }
      if (overflowX === "auto" || overflowX === "scroll") return undefined
      if (isInCell && box.matches(cells)) {
        isInCell = false
        if (isBeside) return `runs out of its ${box.localName}`
      }
      if (position === "fixed") return undefined
    }
    return rect.left < -slack || rect.right > innerWidth + slack ? "is beside the window" : undefined
  }

  const textsCut = () => {
    const walker = document.createTreeWalker(shown(), NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const faults = []
    while (walker.nextNode() !== null) {
      const text = walker.currentNode
      if (text.textContent.trim() === "" || !isDrawn(text.parentElement)) continue
      range.selectNodeContents(text)
      const rect = range.getBoundingClientRect()
      if (rect.width === 0) continue
      const fault = faultOf(text, rect)
      if (fault !== undefined) faults.push(`${shorten(text.textContent)} ${fault}`)
    }
    return faults
  }

  const canvas = document.createElement("canvas").getContext("2d")
  const placeholdersCut = () =>
    [...shown().querySelectorAll("input[placeholder]")].filter((input) => {
      if (input.placeholder === "" || input.value !== "" || !isDrawn(input)) return false
      const style = getComputedStyle(input)
      canvas.font = style.font
      const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
      return canvas.measureText(input.placeholder).width > room + slack
    }).map(({ placeholder }) => `the placeholder ${shorten(placeholder)} is cut`)

  const union = (rects) => ({
    width: Math.max(...rects.map(({ right }) => right)) - Math.min(...rects.map(({ left }) => left)),
    height: Math.max(...rects.map(({ bottom }) => bottom)) - Math.min(...rects.map(({ top }) => top))
  })

  /** Targets that a finger misses. A link in a text is as high as its line. */
  const targetsSmall = () =>
    [
      ...shown().querySelectorAll(
        "button, input:not([type=hidden]), select, textarea, summary, [role=tab], a[download]"
      )
    ]
      .filter((target) => {
        const drawn = [target, ...(target.labels ?? []), target.closest("[class*=Input-wrapper]")].filter((part) =>
          part && isDrawn(part)
        )
        if (drawn.length === 0 || target.closest("[aria-hidden=true], [inert]") !== null) return false
        const { height, width } = union(drawn.map((each) => each.getBoundingClientRect()))
        return width > 1 && (width < smallestTarget - 0.5 || height < smallestTarget - 0.5)
      }).map((target) => {
        const { height, width } = target.getBoundingClientRect()
        const name = target.getAttribute("aria-label") ?? target.textContent
        return `${target.localName} ${shorten(name)} is ${Math.round(width)} × ${Math.round(height)} px`
      })

  const notOpeners =
    "th *, [role=tab], [type=submit], [aria-pressed], [data-disabled], aside [aria-keyshortcuts], .chip, [aria-label^=Copy], [aria-label^=Close], [data-combobox-target]"

  /** Menus of rows that are opened: the others have the same. */
  const maxMenus = 8

  let count = 0

  const styles = [
    "color",
    "backgroundColor",
    "backgroundImage",
    "opacity",
    "visibility",
    "display",
    "fontSize",
    "fontWeight"
  ]
  const seen = new Set()

  /** All of an open dialog or menu that axe-core works on: what is in it, where in it that is, and whether in the window, and its colours. */
  const contentOf = (dialog) => {
    const origin = dialog.getBoundingClientRect()
    const parts = [dialog, ...dialog.querySelectorAll("*")].map((element) => {
      const { bottom, height, left, right, top, width } = element.getBoundingClientRect()
      const isInside = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth
      const style = getComputedStyle(element)
      const { scrollHeight, scrollWidth } = element
      return [left - origin.left, top - origin.top, width, height, scrollWidth, scrollHeight].map(Math.round).join() +
        isInside + styles.map((name) => style[name]).join()
    })
    return dialog.outerHTML + parts.join("\n")
  }

  return {
    /** Whether no dialog or menu like the open one was asked about for these rules, or for all. A page is always new. */
    isNew: (rules) => {
      const open = [...document.querySelectorAll("[role=dialog], [role=menu]")].filter(isDrawn)
      if (open.length === 0) return true
      const content = open.map(contentOf).join("\n")
      const isNew = !["all", rules].some((each) => seen.has(each + content))
      seen.add(rules + content)
      return isNew
    },
    /** From now on nothing is on its way: what changes is there at once. */
    still: () => {
      const still = new CSSStyleSheet()
      still.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }")
      document.adoptedStyleSheets.push(still)
    },
    openers: (root) => {
      const names = new Set()
      let menus = 0
      return [...document.querySelectorAll(root)].flatMap((part) => [...part.querySelectorAll("button:enabled")])
        .flatMap((button) => {
          if (!isDrawn(button) || button.matches(notOpeners) || button.closest("[inert], [aria-hidden=true]")) return []
          const name = (button.getAttribute("aria-label") ?? button.textContent).trim().replaceAll(/\d+/g, "#")
          const isMenu = button.getAttribute("aria-haspopup") === "menu"
          if (name === "" || (isMenu ? ++menus > maxMenus : names.has(name))) return []
          names.add(name)
          button.dataset.opener ??= String(++count)
          return [{ index: Number(button.dataset.opener), name, isMenu }]
        })
    },
    faults: () => [...new Set([...isWider(), ...textsCut(), ...placeholdersCut(), ...targetsSmall()])]
  }
})()

/**
 * Copies values in machine-readable form. An element with `data-copy` is displayed in the user's format (1.234,50 €; 22 Nov, 14:03) and copied as its
 * value (1234,50; 2026-11-22T13:03:00.000Z).
 */

const machineText = (fragment: DocumentFragment): string => {
  for (const element of fragment.querySelectorAll<HTMLElement>("[data-copy]")) {
    element.textContent = element.dataset["copy"] ?? element.textContent
  }
  const rows = [...fragment.querySelectorAll("tr")]
  return rows.length === 0
    ? fragment.textContent ?? ""
    : rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "").join("\t")).join("\n")
}

/** Installs the handler for the whole document. */
export const installCopying = (): void => {
  document.addEventListener("copy", (event) => {
    const selection = document.getSelection()
    if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return
    const range = selection.getRangeAt(0)
    const inside = range.commonAncestorContainer
    const own = (inside instanceof Element ? inside : inside.parentElement)?.closest<HTMLElement>("[data-copy]")
    const fragment = range.cloneContents()
    if (own === null && fragment.querySelector("[data-copy]") === null) return
    event.clipboardData?.setData("text/plain", own?.dataset["copy"] ?? machineText(fragment))
    event.preventDefault()
  })
}

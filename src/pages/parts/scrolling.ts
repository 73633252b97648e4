/** Scrollable regions of a page: an element whose content is wider than itself becomes a named region that Tab reaches and arrow keys scroll. */
import { type RefCallback, useCallback } from "react"

/**
 * Element whose content may be wider than itself. While it is, the element is a region of this name that Tab reaches and the arrow keys scroll; else it is
 * no stop on the way.
 */
export const useScrollRegion = (name: string): RefCallback<HTMLElement> =>
  useCallback((element: HTMLElement | null) => {
    if (element === null) return
    const look = () => {
      const isWider = element.scrollWidth > element.clientWidth + 1
      if (isWider === element.hasAttribute("tabindex")) return
      if (isWider) {
        element.tabIndex = 0
        element.setAttribute("role", "region")
        element.setAttribute("aria-label", name)
      } else for (const attribute of ["tabindex", "role", "aria-label"]) element.removeAttribute(attribute)
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [name])

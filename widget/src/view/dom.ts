type Attribute = string | boolean | undefined | ((event: never) => void)
type Child = Node | string | false | undefined

/** Creates an element. Function values become listeners of the event with that name; `true` becomes an attribute without a value. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false))
  return element
}

/** Creates an icon button with an accessible name. */
export const iconButton = (name: string, label: string, click: () => void, attributes: Record<string, Attribute> = {}) =>
  h('button', { type: 'button', class: 'icon', 'aria-label': label, title: label, click, ...attributes }, icon(name))

const SVG = 'http://www.w3.org/2000/svg'

/** Paths on a 24 × 24 grid. */
const ICONS: Record<string, string> = {
  chat: 'M5 4.5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-7l-5 4v-4H5a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zM8 9h8M8 12.5h5',
  close: 'M6 6l12 12M18 6L6 18',
  down: 'M5 9l7 7 7-7',
  new: 'M12 5v14M5 12h14',
  send: 'M12 19V5M5.5 11.5L12 5l6.5 6.5',
  stop: 'M7 7h10v10H7z',
  thumb: 'M7 10.5V20H4v-9.5zM7 10.5L10.5 3.5a2.2 2.2 0 0 1 2.2 2.2V9.5h5.4a2 2 0 0 1 2 2.3l-1 6.4a2 2 0 0 1-2 1.8H7',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  out: 'M13 5h6v6M19 5l-9 9M10 6H5v13h13v-5',
  retry: 'M20 11a8 8 0 1 0-2.3 6.2M20 5v6h-6',
}

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', ICONS[name]!)
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.classList.add(`i-${name}`)
  svg.append(path)
  return svg
}

/** Stroke paths in a 24 by 24 view box, drawn for the console. */
const paths = {
  eye: 'M2.5 12C5 7.5 8.3 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-5.8 6.5-9.5 6.5s-7-2-9.5-6.5zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  eyeOff:
    'M4 4l16 16M9.5 5.9A9 9 0 0 1 12 5.5c3.7 0 7 2 9.5 6.5a17 17 0 0 1-2.6 3.5M6.2 7.4A15 15 0 0 0 2.5 12c2.5 4.5 5.8 6.5 9.5 6.5 1.6 0 3.1-.4 4.5-1.2M10 10a3 3 0 0 0 4 4',
  home: 'M4 11l8-7 8 7M6 9.5V20h4v-6h4v6h4V9.5',
  agents: 'M8 8V5h8v3M5 8h14v11H5zM9.5 12.5v2M14.5 12.5v2M2.5 12v3M21.5 12v3',
  setup: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5',
  knowledge: 'M5 4.5h11a3 3 0 0 1 3 3V20H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8.5h6',
  playground: 'M20 12a7.5 7.5 0 0 1-11 6.6L4 20l1.4-4.6A7.5 7.5 0 1 1 20 12zM9 10.5h6M9 13.5h4',
  conversations: 'M4 5h12v9H9l-5 4zM19 9h1v11l-4-3h-5v-1',
  insights: 'M4 20V4M4 20h16M8.5 16v-4M13 16V8M17.5 16v-6',
  keys: 'M14 10a4 4 0 1 0-2.6 3.7L13 15h2v2h2v2h3v-3.5l-6.3-4.2A4 4 0 0 0 14 10zM9 9.5h.01',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  end: 'M9 6l6 6-6 6',
  start: 'M15 6l-6 6 6 6',
  upDown: 'M8 9.5L12 5.5l4 4M8 14.5l4 4 4-4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  trash: 'M4 7h16M10 7V4h4v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  external: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  refresh: 'M20 5v5h-5M4 19v-5h5M19 10a7.5 7.5 0 0 0-13.5-2.5M5 14a7.5 7.5 0 0 0 13.5 2.5',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5M12 8h.01',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  good: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM8.5 12.2l2.5 2.5 4.5-5',
  bad: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM9 9l6 6M15 9l-6 6',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  screen: 'M4 5h16v11H4zM9 20h6M12 16v4',
  language: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  keyboard: 'M3 7h18v10H3zM7 10.5h.01M10.3 10.5h.01M13.7 10.5h.01M17 10.5h.01M8 14h8',
  signOut: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  file: 'M6 3.5h8l4 4v13H6zM14 3.5v4h4M9 12h6M9 15.5h6',
  globe: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  thumbUp: 'M7 11v9H4v-9zM7 11l4-7a2 2 0 0 1 2.5 2.2L13 10h6l-1.5 10H7',
  thumbDown: 'M17 13V4h3v9zM17 13l-4 7a2 2 0 0 1-2.5-2.2L11 14H5L6.5 4H17',
  users: 'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 5.5a3.5 3.5 0 0 1 0 6M18 14.5c2 .8 3 2.6 3 5.5',
  support: 'M4 14v-2a8 8 0 0 1 16 0v2M4 13.5h3v5H4zM17 13.5h3v5h-3zM19 18.5c0 2-2 2.5-5 2.5',
  building: 'M5 20.5v-17h9v17M14 9.5h5v11M3 20.5h18M8 7.5h3M8 11.5h3M8 15.5h3',
  teacher: 'M12 5L2.5 9.5 12 14l9.5-4.5zM6.5 11.5V16c3 2.7 8 2.7 11 0v-4.5M21.5 9.5V15',
  blank: 'M6 3.5h8l4 4v13H6zM14 3.5v4h4',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2',
  sparkle: 'M12 4l1.8 6.2L20 12l-6.2 1.8L12 20l-1.8-6.2L4 12l6.2-1.8z',
  bell: 'M6 17V11a6 6 0 0 1 12 0v6M4 17h16M10 20h4',
  gauge: 'M4.5 18a9 9 0 1 1 15 0M12 14l4-5M12 13a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  filter: 'M4 6h16M7 12h10M10 18h4',
} as const

export type IconName = keyof typeof paths
/** Icons that point in the reading direction; mirrored in right-to-left languages. */
const MIRRORED = new Set<IconName>(['end', 'start', 'external', 'signOut', 'playground', 'conversations'])

/** An icon without an accessible name: its meaning is in the text next to it, or in the name of its button. */
export function Icon({ name, size = 16, className = '' }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      className={`icon ${MIRRORED.has(name) ? 'icon-mirrored' : ''} ${className}`}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 3 : size < 18 ? 1.9 : 1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}

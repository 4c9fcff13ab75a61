import './tile.css'

const HUES = 6

/** The first letter of a name on a coloured tile, to tell items apart quickly. Screen readers skip it: the name is next to it. */
export function Tile({ name, size = 'small' }: { name: string; size?: 'small' | 'large' }) {
  const letters = [...name.replace(/^\P{L}+/u, '')]
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 9973, 7) % HUES
  return (
    <span className={`tile tile-${size} tile-hue-${hue}`} aria-hidden="true">
      {(letters[0] ?? [...name][0] ?? '').toLocaleUpperCase()}
    </span>
  )
}

/** Text at a position on a page, in points from the lower left corner. */
export interface PdfText {
  text: string
  x?: number
  y: number
  size?: number
}

interface PdfOptions {
  title?: string
  /** Requires an unknown password. */
  encrypted?: boolean
}

export function pdf(pages: PdfText[][], { title, encrypted = false }: PdfOptions = {}): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ]
  const kids = pages.map((texts) => {
    const drawn = texts
      .map(
        ({ text, x = 50, y, size = 10 }) => `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`,
      )
      .join('\n')
    objects.push(stream(drawn))
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents ${objects.length} 0 R >>`,
    )
    return `${objects.length} 0 R`
  })
  objects[1] = `<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(' ')}] >>`
  let trailer = ''
  if (title !== undefined) {
    objects.push(`<< /Title (${title}) >>`)
    trailer += ` /Info ${objects.length} 0 R`
  }
  if (encrypted) {
    const hash = `<${'5a'.repeat(32)}>`
    objects.push(`<< /Filter /Standard /V 1 /R 2 /O ${hash} /U ${hash} /P -44 >>`)
    trailer += ` /Encrypt ${objects.length} 0 R /ID [<00> <00>]`
  }
  return assemble(objects, trailer)
}

export const stream = (content: string, more = ''): string =>
  `<< /Length ${content.length}${more} >>\nstream\n${content}\nendstream`

/** Assembles a PDF from objects in order of their numbers, from 1. The first is the catalogue. */
export function assemble(objects: readonly string[], trailer = ''): Buffer {
  let text = '%PDF-1.7\n'
  const places = objects.map((object, i) => {
    const at = text.length
    text += `${i + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const xref = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')}`
  return Buffer.from(
    `${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${trailer} >>\nstartxref\n${xref}\n%%EOF\n`,
    'latin1',
  )
}

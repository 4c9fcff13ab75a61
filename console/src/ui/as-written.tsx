import './prose.css'

/** Shows Markdown as plain text. */
export const AsWritten = ({ text }: { text: string }) => (
  <div className="prose" dir="auto">
    <p style={{ whiteSpace: 'pre-wrap' }}>{text}</p>
  </div>
)

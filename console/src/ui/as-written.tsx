import './prose.css'

/** Markdown that is not rendered. */
export const AsWritten = ({ text }: { text: string }) => (
  <div className="prose" dir="auto">
    <p style={{ whiteSpace: 'pre-wrap' }}>{text}</p>
  </div>
)

import './code-block.css'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { useCopy } from './copy.ts'
import { useUiTexts } from './texts.ts'

/** Text to copy: code, an address, a key. Always left to right. */
export function CodeBlock({ code, label, language }: { code: string; label: string; language?: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a text may contain many blocks, and none of them is a landmark
    <div role="group" className="code-block" aria-label={label} dir="ltr">
      {language !== undefined && <span className="code-language">{language}</span>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} />
    </div>
  )
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const texts = useUiTexts()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copyText = useCopy()
  const copy = async () => setCopied(await copyText(text))
  return <IconButton icon={isCopied ? 'check' : 'copy'} label={label ?? texts.copy} size="small" onPress={() => void copy()} />
}

import './progress.css'
import { Label } from 'react-aria-components/Label'
import { Meter as AriaMeter } from 'react-aria-components/Meter'
import { ProgressBar as AriaProgressBar } from 'react-aria-components/ProgressBar'
import { useUiTexts } from './texts.ts'

const percentOf = (percentage: number | undefined) => ({ inlineSize: `${percentage ?? 0}%` })

/** Shows that an operation of unknown duration is running. */
export function Spinner({ size = 16 }: { size?: number }) {
  const texts = useUiTexts()
  return (
    <AriaProgressBar aria-label={texts.loading} isIndeterminate className="spinner">
      <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.8" opacity="0.22" />
        <path d="M8 1.8a6.2 6.2 0 0 1 6.2 6.2" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
      </svg>
    </AriaProgressBar>
  )
}

interface BarProps {
  label: string
  value: number
  max?: number
  /** Text for the value; the default is a percentage. */
  valueLabel?: string
  /** The name is available to screen readers only. */
  hidesLabel?: boolean
}

/** Shows the progress of an operation. */
export function ProgressBar({ label, value, max = 1, valueLabel, hidesLabel = false }: BarProps) {
  const name = hidesLabel ? { 'aria-label': label } : {}
  return (
    <AriaProgressBar {...name} {...(valueLabel !== undefined && { valueLabel })} value={value} maxValue={max} className="bar">
      {({ percentage, valueText }) => (
        <>
          {!hidesLabel && <BarHead label={label} value={valueText} />}
          <span className="bar-track">
            <span className="bar-fill" style={percentOf(percentage)} />
          </span>
        </>
      )}
    </AriaProgressBar>
  )
}

/** Shows the used share of a quota. The colour changes at 80 % and at 100 %, unless `warns` is false. */
export function Meter({ label, value, max = 1, valueLabel, hidesLabel = false, warns = true }: BarProps & { warns?: boolean }) {
  const name = hidesLabel ? { 'aria-label': label } : {}
  const tight = !warns ? 'usual' : value / max >= 1 ? 'bad' : value / max >= 0.8 ? 'warn' : 'usual'
  return (
    <AriaMeter
      {...name}
      {...(valueLabel !== undefined && { valueLabel })}
      value={value}
      maxValue={max}
      className={`bar bar-${tight}`}
    >
      {({ percentage, valueText }) => (
        <>
          {!hidesLabel && <BarHead label={label} value={valueText} />}
          <span className="bar-track">
            <span className="bar-fill" style={percentOf(percentage)} />
          </span>
        </>
      )}
    </AriaMeter>
  )
}

function BarHead({ label, value }: { label: string; value: string | undefined }) {
  return (
    <span className="bar-head">
      <Label>{label}</Label>
      <span className="numbers muted">{value}</span>
    </span>
  )
}

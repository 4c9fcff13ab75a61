import { useMemo } from 'react'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'
import { useLocation, useSearch } from 'wouter'
import { DateRange, type Days, isDay, lastDays } from '../../ui/date-range.tsx'
import { useInsightTexts } from './texts.ts'

const PRESETS = ['7', '30', '90'] as const
const USUAL = '30'

interface Range {
  days: Days
  /** One of the presets, or `own`. */
  picked: string
  pick(picked: string): void
  setDays(days: Days): void
}

/** The selected time span, from the address, so that a link can be shared. */
export function useRange(): Range {
  const search = useSearch()
  const [path, navigate] = useLocation()
  return useMemo(() => {
    const given = new URLSearchParams(search)
    const [from, to] = [given.get('from') ?? '', given.get('to') ?? '']
    const set = (text: string) => navigate(`${path}?${text}`, { replace: true })
    const setDays = ({ from, to }: Days) => set(`from=${from}&to=${to}`)
    const preset = PRESETS.find((one) => one === given.get('days')) ?? USUAL
    const isOwn = isDay(from) && isDay(to) && from <= to
    const days = isOwn ? { from, to } : lastDays(Number(preset))
    return {
      days,
      picked: isOwn ? 'own' : preset,
      pick: (picked: string) => (picked === 'own' ? setDays(days) : set(`days=${picked}`)),
      setDays,
    }
  }, [search, path, navigate])
}

export function RangePicker({ days, picked, pick, setDays }: Range) {
  const texts = useInsightTexts()
  return (
    <div className="insights-range">
      <ToggleButtonGroup
        aria-label={texts.range}
        className="insights-presets"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[picked]}
        onSelectionChange={(keys) => pick(String([...keys][0]))}
      >
        {PRESETS.map((preset) => (
          <ToggleButton key={preset} id={preset} className="insights-preset">
            {texts.days(Number(preset))}
          </ToggleButton>
        ))}
        <ToggleButton id="own" className="insights-preset">
          {texts.own}
        </ToggleButton>
      </ToggleButtonGroup>
      {picked === 'own' && <DateRange label={texts.ownDays} hidesLabel value={days} onChange={setDays} />}
    </div>
  )
}

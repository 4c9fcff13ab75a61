import './field.css'
import './overlay.css'
import './date-range.css'
import { type CalendarDate, parseDate, today } from '@internationalized/date'
import { Button as AriaButton } from 'react-aria-components/Button'
import { DateInput, DateSegment } from 'react-aria-components/DateField'
import { DateRangePicker } from 'react-aria-components/DateRangePicker'
import { Group } from 'react-aria-components/Group'
import { Popover } from 'react-aria-components/Popover'
import { CalendarCell, CalendarGrid, CalendarHeading, RangeCalendar } from 'react-aria-components/RangeCalendar'
import { FieldLabel } from './field.tsx'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'

/** Days in UTC, such as `2026-11-20`, both inclusive. */
export interface Days {
  from: string
  to: string
}

/** Whether a text, e.g. from the address, is a day. */
export function isDay(text: string): boolean {
  try {
    return parseDate(text).toString() === text
  } catch {
    return false
  }
}

/** Returns the last `days` days, including today. */
export function lastDays(days: number): Days {
  const to = today('UTC')
  return { from: to.subtract({ days: days - 1 }).toString(), to: to.toString() }
}

/** Converts days to the times of an API request: from the start of the first day to the start of the day after the last. */
export const toTimes = ({ from, to }: Days) => ({
  from: `${from}T00:00:00.000Z`,
  to: `${parseDate(to).add({ days: 1 })}T00:00:00.000Z`,
})

export function DateRange({
  label,
  value,
  onChange,
  hidesLabel = false,
}: {
  label: string
  value: Days
  onChange(value: Days): void
  hidesLabel?: boolean
}) {
  const texts = useUiTexts()
  return (
    <DateRangePicker
      className="field"
      {...(hidesLabel && { 'aria-label': label })}
      value={{ start: parseDate(value.from), end: parseDate(value.to) }}
      onChange={(range) => range !== null && onChange({ from: range.start.toString(), to: range.end.toString() })}
      maxValue={today('UTC') as CalendarDate}
      shouldForceLeadingZeros
    >
      {!hidesLabel && <FieldLabel>{label}</FieldLabel>}
      <Group className="input input-group date-range">
        <DateInput slot="start" className="date-input">
          {(segment) => <DateSegment segment={segment} className="date-segment" />}
        </DateInput>
        <span aria-hidden="true" className="muted">
          –
        </span>
        <DateInput slot="end" className="date-input">
          {(segment) => <DateSegment segment={segment} className="date-segment" />}
        </DateInput>
        <AriaButton className="input-step" aria-label={texts.openCalendar}>
          <Icon name="down" size={14} />
        </AriaButton>
      </Group>
      <Popover className="popover calendar-popover" offset={5} aria-label={label}>
        <RangeCalendar className="calendar">
          <div className="calendar-head">
            <AriaButton slot="previous" className="input-step" aria-label={texts.previousMonth}>
              <Icon name="start" size={15} />
            </AriaButton>
            <CalendarHeading className="calendar-title" />
            <AriaButton slot="next" className="input-step" aria-label={texts.nextMonth}>
              <Icon name="end" size={15} />
            </AriaButton>
          </div>
          <CalendarGrid className="calendar-grid">
            {(date) => <CalendarCell date={date} className="calendar-cell" />}
          </CalendarGrid>
        </RangeCalendar>
      </Popover>
    </DateRangePicker>
  )
}

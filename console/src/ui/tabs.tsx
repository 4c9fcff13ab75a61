import './tabs.css'
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'

export interface TabItem<V extends string> {
  id: V
  label: string
  /** Shown next to the label, e.g. a count. */
  badge?: ReactNode
  content: ReactNode
}

/** Tabs of one page. Store the selected tab in the address, so that links can open it. */
export function Tabs<V extends string>({
  label,
  items,
  value,
  onChange,
}: {
  label: string
  items: readonly TabItem<V>[]
  value: V
  onChange(value: NoInfer<V>): void
}) {
  return (
    <AriaTabs selectedKey={value} onSelectionChange={(key) => onChange(key as V)} className="tabs">
      <TabList aria-label={label} className="tab-list">
        {items.map((item) => (
          <Tab key={item.id} id={item.id} className="tab">
            {item.label}
            {item.badge}
          </Tab>
        ))}
      </TabList>
      {items.map((item) => (
        <TabPanel key={item.id} id={item.id} className="tab-panel">
          {item.content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}

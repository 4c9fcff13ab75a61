import './tabs.css'
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'

export interface TabItem<V extends string> {
  id: V
  label: string
  /** Beside the label, e.g. a count. */
  badge?: ReactNode
  content: ReactNode
}

/** Parts of one page. Which one is shown belongs in the address of the page, where others may want to be sent there. */
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

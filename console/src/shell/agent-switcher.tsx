import { useState } from 'react'
import { Autocomplete } from 'react-aria-components/Autocomplete'
import { Button as AriaButton } from 'react-aria-components/Button'
import { DialogTrigger } from 'react-aria-components/Dialog'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { useLocation } from 'wouter'
import { useAgent, useAgentName, useAgentSearch } from '../queries/agents.ts'
import { SearchField } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { Spinner } from '../ui/progress.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Tile } from '../ui/tile.tsx'
import { useCurrentAgentId } from './current-agent.ts'
import { useShellTexts } from './texts.ts'

/** Shows the current agent, and links to the same page of another agent. */
export function AgentSwitcher({ onPick }: { onPick?(): void }) {
  const texts = useShellTexts().agents
  const agentId = useCurrentAgentId()
  const name = useAgentName(agentId)
  const { isError } = useAgent(agentId)
  const [isOpen, setOpen] = useState(false)
  const close = () => {
    setOpen(false)
    onPick?.()
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className="switcher">
        {agentId === undefined ? <Icon name="agents" size={17} className="muted" /> : <Tile name={name ?? ''} />}
        {agentId !== undefined && <span className="hidden-visually">{texts.pick}: </span>}
        <span className="switcher-name clip as-written">
          {agentId === undefined ? texts.pick : (name ?? (isError ? agentId : <Skeleton width={12} />))}
        </span>
        <Icon name="upDown" size={15} className="muted" />
      </AriaButton>
      <Popover className="popover switcher-popover" offset={5} aria-label={texts.pick}>
        <AgentPicker onPick={close} />
      </Popover>
    </DialogTrigger>
  )
}

function AgentPicker({ onPick }: { onPick(): void }) {
  const texts = useShellTexts().agents
  const [text, setText] = useState('')
  const [path, navigate] = useLocation()
  const current = useCurrentAgentId()
  const { found, total, isLoading } = useAgentSearch(text)
  // Keep the page but not its subpage, which belongs to the current agent.
  const rest = /^\/agents\/[0-9a-f-]{36}(\/[a-z]+)?/.exec(path)?.[1] ?? ''
  const pick = (id: string) => {
    onPick()
    navigate(`/agents/${id}${rest}`)
  }
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <div className="switcher-search">
        <SearchField label={texts.search} isOverList autoFocus />
      </div>
      <ListBox
        aria-label={texts.pick}
        items={found}
        className="options switcher-list"
        selectionMode="single"
        selectedKeys={current === undefined ? [] : [current]}
        onAction={(key) => pick(String(key))}
        onSelectionChange={(keys) => keys !== 'all' && [...keys][0] !== undefined && pick(String([...keys][0]))}
        renderEmptyState={() => (
          <p className="options-empty">{isLoading ? <Spinner /> : text === '' ? texts.empty : texts.none}</p>
        )}
      >
        {(agent) => (
          <ListBoxItem id={agent.id} textValue={agent.name} className="option">
            <Tile name={agent.name} />
            <span className="option-text clip as-written">{agent.name}</span>
            {agent.id === current && <Icon name="check" size={15} />}
          </ListBoxItem>
        )}
      </ListBox>
      {total !== undefined && <p className="switcher-total">{texts.total(total)}</p>}
    </Autocomplete>
  )
}

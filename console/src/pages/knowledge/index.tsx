import './knowledge.css'
import './intake.css'
import './document.css'
import './search.css'
import { useLocation, useRoute, useSearch } from 'wouter'
import { useAgentName } from '../../queries/agents.ts'
import type { PageProps } from '../../routing/routes.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { DocumentPage } from './document-page.tsx'
import { DocumentsTab } from './documents-tab.tsx'
import { SearchTab } from './search-tab.tsx'
import { SourcesTab } from './sources-tab.tsx'
import { useKnowledgeTexts } from './texts.ts'

type View = 'documents' | 'sources' | 'search'

const PATH = '/agents/:agentId/knowledge'

export default function Knowledge({ agentId }: PageProps) {
  const [isDocument, params] = useRoute<{ agentId: string; documentId: string }>(`${PATH}/documents/:documentId`)
  const search = useSearch()
  if (!isDocument) return <Views agentId={agentId} />
  // The state of the page belongs to one document and one address.
  return <DocumentPage key={`${params.documentId}?${search}`} agentId={agentId} documentId={params.documentId.toLowerCase()} />
}

function Views({ agentId }: PageProps) {
  const texts = useKnowledgeTexts()
  const [, navigate] = useLocation()
  const [, params] = useRoute<{ agentId: string; view?: string }>(`${PATH}/:view?`)
  const view: View = params?.view === 'sources' || params?.view === 'search' ? params.view : 'documents'
  const base = `/agents/${agentId}/knowledge`
  return (
    <Page title={texts.title} of={useAgentName(agentId)} description={texts.description}>
      <Tabs<View>
        label={texts.views}
        value={view}
        onChange={(next) => navigate(next === 'documents' ? base : `${base}/${next}`)}
        items={[
          { id: 'documents', label: texts.tabs.documents, content: <DocumentsTab agentId={agentId} /> },
          { id: 'sources', label: texts.tabs.sources, content: <SourcesTab agentId={agentId} /> },
          { id: 'search', label: texts.tabs.search, content: <SearchTab agentId={agentId} /> },
        ]}
      />
    </Page>
  )
}

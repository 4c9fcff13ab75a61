import { textsOf } from '../../texts/define.ts'
import { arabic } from './texts-ar.ts'
import { english } from './texts-en.ts'

export type { KnowledgeTexts } from './texts-en.ts'

export const useKnowledgeTexts = textsOf(english, { ar: arabic })

import { count, textsOf } from '../../texts/define.ts'

const en = count('en')
const ar = count('ar')

export const useUserTexts = textsOf(
  {
    title: 'Users',
    description: 'Who talked to this agent, by the ids that your system gave them. Nothing else is known of them.',
    search: 'Find a user by the beginning of their id',
    noId: 'Ids are UUIDs: digits and the letters a to f.',
    id: 'User id',
    sessions: 'Conversations',
    messages: 'Messages',
    last: 'Last activity',
    actionsOf: (id: string) => `Actions for ${id}`,
    conversations: 'Show the conversations',
    copyId: 'Copy the id',
    copied: 'The id is copied',
    export: 'Export all that is kept',
    exporting: 'The file is being made…',
    exported: 'The file is ready',
    erase: 'Erase…',
    eraseTitle: 'Erase the user?',
    eraseText: (sessions: number) =>
      `${en(sessions, { one: '# conversation', other: '# conversations' })}, with every message, rating and trace in them, will be gone at once and for good. Export first what has to be kept.`,
    eraseAction: 'Erase the user',
    erased: (sessions: number) =>
      en(sessions, { one: 'The user is erased, with # conversation', other: 'The user is erased, with # conversations' }),
    empty: 'No user yet',
    emptyText: 'Who talks to the agent is listed here: by the external id that a session is created with, or by one made for it.',
    none: 'No user fits',
    noneText: 'No id begins with this.',
  },
  {
    ar: {
      title: 'المستخدمون',
      description: 'من تحدّث مع هذا الوكيل، بالمعرّفات التي أعطاهم إياها نظامك. لا يُعرف عنهم شيء آخر.',
      search: 'ابحث عن مستخدم ببداية معرّفه',
      noId: 'المعرّفات بصيغة UUID: أرقام والحروف a إلى f.',
      id: 'معرّف المستخدم',
      sessions: 'المحادثات',
      messages: 'الرسائل',
      last: 'آخر نشاط',
      actionsOf: (id) => `إجراءات ${id}`,
      conversations: 'اعرض المحادثات',
      copyId: 'انسخ المعرّف',
      copied: 'تم نسخ المعرّف',
      export: 'صدّر كل ما هو محفوظ',
      exporting: 'يجري إعداد الملف…',
      exported: 'الملف جاهز',
      erase: 'محو…',
      eraseTitle: 'محو المستخدم؟',
      eraseText: (sessions) =>
        `${ar(sessions, { one: 'محادثة واحدة', two: 'محادثتان', few: '# محادثات', other: '# محادثة' })}، بكل ما فيها من رسائل وتقييمات، ستزول فورًا ونهائيًا. صدّر أولًا ما يجب حفظه.`,
      eraseAction: 'امحُ المستخدم',
      erased: (sessions) =>
        `تم محو المستخدم مع ${ar(sessions, { zero: '0 محادثة', one: 'محادثة واحدة', two: 'محادثتين', few: '# محادثات', other: '# محادثة' })}`,
      empty: 'لا مستخدمين بعد',
      emptyText: 'يُدرج هنا من يتحدث مع الوكيل: بالمعرّف الخارجي الذي أُنشئت به الجلسة، أو بمعرّف أُنشئ لها.',
      none: 'لا مستخدم يطابق',
      noneText: 'لا معرّف يبدأ بهذا.',
    },
  },
)

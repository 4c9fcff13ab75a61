import { textsOf } from '../../texts/define.ts'

export const useEmbedTexts = textsOf(
  {
    title: 'Embed',
    description: 'How this agent comes into your pages, your programs and your editor. The address and the ids are filled in.',
    ways: 'Ways to embed',
    tabs: { widget: 'Widget', react: 'React', openai: 'OpenAI clients', mcp: 'MCP', http: 'HTTP' },
    guide: 'Read the guide',
    widget: {
      page: 'In your page',
      pageText: 'A button in the corner opens the chat. /chat-token is an address of your own server, see below.',
      server: 'On your server',
      serverText:
        'It answers /chat-token with a token of whoever is signed in. An API key must never be in a page: whoever reads the page has it.',
    },
    react: {
      title: 'A chat of your own',
      text: 'The client asks your server for a token, shows the reply as it grows, and takes up a stream that was cut off.',
    },
    openai: {
      title: 'Whatever speaks to OpenAI',
      text: 'The agent is the model. The key is a key of Repartee with the scope chat.',
      base: 'Base URL',
      model: 'Model',
      curl: 'On the command line',
      python: 'Python',
    },
    mcp: {
      title: 'As tools of assistants and editors',
      text: 'The tool ask needs a key with the scope chat, and search one with the scope knowledge.',
      url: 'Address',
      claude: 'Claude Code',
      editor: 'Cursor, and others with such a file',
    },
    http: {
      title: 'Plain requests',
      text: 'For everything else, such as apps in Swift or Kotlin: a session, and a message in it.',
      session: 'Create a session',
      message: 'Send a message',
    },
    origins: {
      none: 'This agent allows no pages of other origins by itself',
      noneText:
        'A page of another origin may call only where its origin is allowed for the agent, or by REPARTEE_ALLOWED_ORIGINS for all. Allow it in the setup of the agent.',
      some: (origins: string) => `Pages of ${origins} may call this agent.`,
      setup: 'Open the setup',
    },
    token: {
      title: 'Try a token',
      text: 'A token may act as one user of this one agent for an hour. Here it is of a user that was made up.',
      create: 'Create a token',
      again: 'Create another',
      label: 'The token',
      user: 'User',
      ends: (when: string) => `It ends at ${when}, or when your key ends.`,
      curl: 'Start a session with it',
    },
  },
  {
    ar: {
      title: 'التضمين',
      description: 'كيف يدخل هذا الوكيل إلى صفحاتك وبرامجك ومحررك. العنوان والمعرّفات مملوءة.',
      ways: 'طرق التضمين',
      tabs: { widget: 'الأداة', react: 'React', openai: 'عملاء OpenAI', mcp: 'MCP', http: 'HTTP' },
      guide: 'اقرأ الدليل',
      widget: {
        page: 'في صفحتك',
        pageText: 'زر في الزاوية يفتح المحادثة. ‎/chat-token عنوان على خادمك أنت، انظر أدناه.',
        server: 'على خادمك',
        serverText: 'يجيب على ‎/chat-token برمز لمن سجّل الدخول. يجب ألا يكون مفتاح API في صفحة أبدًا: فمن يقرأ الصفحة يملكه.',
      },
      react: {
        title: 'محادثة من صنعك',
        text: 'يطلب العميل رمزًا من خادمك، ويعرض الرد وهو ينمو، ويستأنف البث المنقطع.',
      },
      openai: {
        title: 'كل ما يخاطب OpenAI',
        text: 'الوكيل هو النموذج. والمفتاح مفتاح Repartee له نطاق chat.',
        base: 'العنوان الأساسي',
        model: 'النموذج',
        curl: 'في سطر الأوامر',
        python: 'Python',
      },
      mcp: {
        title: 'أدوات للمساعدين والمحررات',
        text: 'تحتاج الأداة ask إلى مفتاح له نطاق chat، والأداة search إلى مفتاح له نطاق knowledge.',
        url: 'العنوان',
        claude: 'Claude Code',
        editor: 'Cursor وما له ملف مثله',
      },
      http: {
        title: 'طلبات مباشرة',
        text: 'لكل ما سوى ذلك، كالتطبيقات بلغة Swift أو Kotlin: جلسة، ورسالة فيها.',
        session: 'إنشاء جلسة',
        message: 'إرسال رسالة',
      },
      origins: {
        none: 'لا يسمح هذا الوكيل بنفسه لصفحات من أصل آخر',
        noneText:
          'لا تتصل صفحة من أصل آخر إلا إذا سُمح بأصلها للوكيل، أو للجميع عبر REPARTEE_ALLOWED_ORIGINS. اسمح به في إعداد الوكيل.',
        some: (origins) => `يجوز لصفحات ${origins} أن تتصل بهذا الوكيل.`,
        setup: 'افتح الإعداد',
      },
      token: {
        title: 'جرّب رمزًا',
        text: 'يتصرف الرمز باسم مستخدم واحد لهذا الوكيل وحده مدة ساعة. وهو هنا لمستخدم مختلق.',
        create: 'إنشاء رمز',
        again: 'إنشاء آخر',
        label: 'الرمز',
        user: 'المستخدم',
        ends: (when) => `ينتهي في ${when}، أو عند انتهاء مفتاحك.`,
        curl: 'ابدأ جلسة به',
      },
    },
  },
)

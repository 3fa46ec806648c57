import type { Detector } from "../text/detector.ts";
import { phraseDetector, type Signal } from "./phrase-detector.ts";

/** Up to `most` filler words. */
const some = (most: number) => `(?:[\\p{L}'-]{1,14},?\\s{1,2}){0,${most}}?`;
const EARLIER =
  "(?:previous|prior|above|earlier|preceding|initial|original|system|existing|foregoing|former|past|last|current|given|developer)";
const RULES = "(?:instructions?|prompts?|rules|directives?|guidelines?|commands?|directions|programming|constraints|guidance|orders)";

const SIGNALS: readonly Signal[] = [
  {
    name: "override",
    score: 0.8,
    pattern:
      `(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|discard|neglect|drop|do not follow|don't follow|` +
      `stop following|cancel|erase)\\s{1,2}${some(4)}${EARLIER}\\s{1,2}${some(2)}${RULES}`,
  },
  {
    name: "override",
    score: 0.8,
    pattern:
      `(?:ignore|disregard|forget|override|bypass|stop following|do not follow|don't follow)\\s{1,2}(?:all (?:of ` +
      `)?)?your\\s{1,2}${some(2)}${RULES}`,
  },
  {
    name: "override",
    score: 0.7,
    pattern:
      `(?:ignore|disregard|forget)\\s{1,2}(?:all|any|every|everything|anything|what|the)\\s{1,2}${some(2)}(?:instructions ` +
      `(?:you|from|in your)|rules (?:you|from|in your)|(?<=everything )(?:above|before)\\b|you (?:were|have been) (?:told|` +
      `taught|instructed|given)|you've been told|(?:written |said |stated )?(?:above|before) (?:this|and))`,
  },
  {
    name: "override",
    score: 0.7,
    pattern:
      `(?:${EARLIER}|the|your)\\s{1,2}${some(2)}${RULES}\\s{1,2}(?:are|is|were|was|have been|has ` +
      `been)\\s{1,2}${some(2)}(?:void|cancel+ed|obsolete|revoked|superseded|a test|fake|deprecated|replaced|lifted|null)`,
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:ignora|olvida|ignore|esquece?|desconsidere|descarta|dimentica|oublie|oubliez|ignorez|n\u00e9glige|ignor\u0103|" +
      "uit\u0103)\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,4}?(?:instruc|istruzion|instruction|indica|consigne|r\u00e8gle|regla|" +
      "regra|regole|ordens|directives|\u00f3rdenes|" +
      "directrices)[\\p{L}]{0,10}\\s{1,2}(?:[\\p{L}]{1,10}\\s{1,2}){0,2}?(?:anterior|previ|precedent|pr\u00e9c\u00e9dent|" +
      "ci-dessus|initial|iniciai|inicial|iniziali|de arriba|acima|sopra|ant\u00e9rieur|ricevut|re\u00e7ue|recibid|recebid|" +
      "dadas|anterioare)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:ignorier|vergiss|vergesst|missachte|\u00fcbergeh)[\\p{L}]{0,3}\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,4}?(?:vorherig|" +
      "bisherig|obig|vorangegangen|fr\u00fcher|urspr\u00fcnglich|vorig|deine|" +
      "system)[\\p{L}]{0,4}\\s{0,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,1}?(?:anweisung|instruktion|regel|vorgabe|befehl|anleitung|prompt)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:negeer|vergeet|zignoruj|ignoruj|zapomnij|ignorera|gl\u00f6m|ignorer|glem|unohda|" +
      "ohita)\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,4}?(?:instruct|instrukc|instruktion|instruks|polece|ohje|aanwijzing|regels|zasad|regler)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439|\u0437\u0430\u0431\u0443\u0434\u044c|" +
      "\u043e\u0442\u0431\u0440\u043e\u0441\u044c|\u043f\u0440\u043e\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439|" +
      "\u0456\u0433\u043d\u043e\u0440\u0443\u0439)[\\p{L}]{0,3}\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,4}?(?:\u0438\u043d\u0441" +
      "\u0442\u0440\u0443\u043a\u0446|\u0443\u043a\u0430\u0437\u0430\u043d|\u043f\u0440\u0430\u0432\u0438\u043b|" +
      "\u043a\u043e\u043c\u0430\u043d\u0434|\u0456\u043d\u0441\u0442\u0440\u0443\u043a\u0446)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u00f6nceki|yukar\u0131daki|t\u00fcm|b\u00fct\u00fcn)\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,3}?(?:talimat|kural|" +
      "komut|y\u00f6nerge)[\\p{L}]{0,6}\\s{1,2}(?:yok say|unut|g\u00f6rmezden|dikkate alma)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u5ffd\u7565|\u65e0\u89c6|\u7121\u8996|\u5fd8\u8bb0|\u5fd8\u6389|\u5ffd\u8996|" +
      "\u4e0d\u8981\u7406\u4f1a)[^\u3002\uff0c\\n]{0,10}(?:\u6307\u4ee4|\u6307\u793a|\u63d0\u793a|\u89c4\u5219|\u898f\u5247|" +
      "\u8aaa\u660e|\u547d\u4ee4)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u4ee5\u524d|\u3053\u308c\u307e\u3067|\u4e0a\u8a18|\u524d\u306e|\u5148\u307b\u3069|\u3059\u3079\u3066\u306e|" +
      "\u6700\u521d\u306e)[^\u3002\\n]{0,12}(?:\u6307\u793a|\u547d\u4ee4|\u30d7\u30ed\u30f3\u30d7\u30c8|" +
      "\u30eb\u30fc\u30eb)[^\u3002\\n]{0,6}(?:\u7121\u8996|\u5fd8\u308c|\u7834\u68c4)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\uc774\uc804|\uc704\uc758|\uc55e\uc758|\uc9c0\uae08\uae4c\uc9c0|\ubaa8\ub4e0)[^.\\n]{0,12}(?:\uc9c0\uc2dc|" +
      "\uba85\ub839|\uc9c0\uce68|\ud504\ub86c\ud504\ud2b8|\uaddc\uce59)[^.\\n]{0,8}(?:\ubb34\uc2dc|\uc78a)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u062a\u062c\u0627\u0647\u0644|\u0627\u0646\u0633\u064e?|" +
      "\u0627\u0646\u0633\u0649)[^.\\n]{0,20}(?:\u0627\u0644\u062a\u0639\u0644\u064a\u0645\u0627\u062a|" +
      "\u0627\u0644\u0623\u0648\u0627\u0645\u0631|\u0627\u0644\u0642\u0648\u0627\u0639\u062f)",
  },
  {
    name: "override",
    score: 0.75,
    pattern:
      "(?:\u092a\u093f\u091b\u0932\u0947|\u092a\u093f\u091b\u0932\u0940|\u0909\u092a\u0930\u094b\u0915\u094d\u0924|" +
      "\u0938\u092d\u0940)[^\u0964\\n]{0,16}\u0928\u093f\u0930\u094d\u0926\u0947\u0936[^\u0964\\n]{0,12}(?:\u0905\u0928\u0926" +
      "\u0947\u0916\u093e|\u0928\u091c\u093c?\u0930\u0905\u0902\u0926\u093e\u091c|\u092d\u0942\u0932)",
  },
  {
    name: "delimiter",
    score: 0.9,
    pattern:
      "<\\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|eot_id|endoftext)\\|>|<<SYS>>|\\[/?INST\\]|" +
      "</?(?:system|system_prompt|system_instructions?)>",
  },
  {
    name: "delimiter",
    score: 0.7,
    pattern: "(?<=^|[\\n\\[#*>(-]\\s{0,3})(?:system|developer)\\s{1,2}(?:message|prompt|override|instructions?|command)\\s{0,2}(?::|\\])",
  },
  {
    name: "delimiter",
    score: 0.7,
    pattern: "(?:begin|end)(?: of)? (?:the )?(?:new |user |system |hidden )(?:system )?(?:prompt|instructions|input|query|rules)",
  },
  {
    name: "new_instructions",
    score: 0.65,
    pattern:
      "your\\s{1,2}(?:new|updated|only|real|actual|true)\\s{1,2}(?:instructions?|directive|objective|task|goal|job|rules|" +
      "purpose)\\s{1,2}(?:now )?(?:is|are)\\s{1,2}(?:now |as follows|to )",
  },
  {
    name: "new_instructions",
    score: 0.6,
    pattern:
      "(?:new|updated|revised|secret|hidden) (?:instructions?|directives?|system prompt|orders)(?: for (?:you|the (?:ai|" +
      "assistant|model|bot)))?\\s{0,2}:",
  },
  {
    name: "extraction",
    score: 0.75,
    pattern:
      `(?:reveal|show|print|repeat|output|display|tell me|give me|what(?:'s| is| are| was| were| does)|disclose|leak|dump|` +
      `recite|share|write|expose|return|list|paste|copy|summari[sz]e|translate|spell out|encode)\\s{1,2}${some(4)}(?:your|` +
      `the system's|the assistant's)\\s{1,2}${some(2)}(?:system (?:prompt|message|instructions)|(?:initial|hidden|original|` +
      `secret|internal|developer|pre-?)\\s?(?:prompt|instructions?|rules|guidelines|configuration|messages?)|prompt\\b|` +
      `instructions\\b(?! (?:manual|for)))`,
  },
  {
    name: "extraction",
    score: 0.7,
    pattern:
      `(?:reveal|show|print|repeat|output|display|tell me|give me|disclose|leak|dump|recite|expose|paste|return|` +
      `translate)\\s{1,2}${some(4)}(?:system prompt|hidden (?:prompt|instructions)|system instructions)`,
  },
  {
    name: "extraction",
    score: 0.75,
    pattern:
      "(?:(?:repeat|print|output|echo|show)\\s{1,2}(?:me )?(?:all |back )?(?:of )?(?:everything|the (?:words|text|contents?|" +
      "messages?|conversation)|all (?:the )?text|verbatim)|(?:summari[sz]e|translate) " +
      "everything)\\s{1,2}(?:[\\p{L}]{1,10}\\s){0,2}?(?:above|before (?:this|my)|prior to this|preceding|that (?:came|comes) before)",
  },
  {
    name: "extraction",
    score: 0.7,
    pattern:
      "(?:muestra|mu\u00e9strame|revela|mostre|mostra|mostrami|montre|montre-moi|r\u00e9v\u00e8le|affiche|zeige?|zeig mir|" +
      "gib mir|toon|poka\u017c|\u043f\u043e\u043a\u0430\u0436\u0438|\u0440\u0430\u0441\u043a\u0440\u043e\u0439|" +
      "g\u00f6ster)\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,4}?(?:prompt|systemprompt|system-prompt|systemaufforderung|" +
      "instrucciones (?:iniciales|ocultas|del sistema)|\u043f\u0440\u043e\u043c\u043f\u0442|" +
      "\u0441\u0438\u0441\u0442\u0435\u043c\u043d)",
  },
  {
    name: "extraction",
    score: 0.7,
    pattern:
      "(?:\u663e\u793a|\u544a\u8bc9\u6211|\u8f93\u51fa|\u900f\u9732|\u516c\u5f00|" +
      "\u91cd\u590d)[^\u3002\\n]{0,8}(?:\u7cfb\u7edf\u63d0\u793a|\u7cfb\u7edf\u6307\u4ee4|\u521d\u59cb\u6307\u4ee4|" +
      "\u63d0\u793a\u8bcd)|\u30b7\u30b9\u30c6\u30e0\u30d7\u30ed\u30f3\u30d7\u30c8[^\u3002\\n]{0,4}(?:\u8868\u793a|" +
      "\u6559\u3048|\u51fa\u529b|\u516c\u958b)|\uc2dc\uc2a4\ud15c \ud504\ub86c\ud504\ud2b8[^.\\n]{0,6}(?:\ubcf4\uc5ec|" +
      "\uc54c\ub824|\ucd9c\ub825|\uacf5\uac1c)",
  },
  {
    name: "addresses_assistant",
    score: 0.65,
    pattern:
      "(?:note|attention|important|message|instructions?|warning|reminder|request|directive)\\s{1,2}(?:to|for)\\s{1,2}(?:all " +
      "|any |the )?(?:ai|llms?|ai (?:assistants?|agents?|models?|systems?)|language models?|chatbots?|gpt|chatgpt|claude|" +
      "copilot|gemini)(?:[\\s,:.!]|$)(?!(?:researcher|team|engineer|lab|conference|user)s?)",
  },
  {
    name: "addresses_assistant",
    score: 0.65,
    pattern:
      "(?:attention|dear|hey),?\\s{1,2}(?:all |any )?(?:llms?|ai (?:assistants?|agents?|models?|systems?)|language models?|" +
      "assistants?|chatbots?)(?:[,:!]|$)(?=[^\\n])",
  },
  {
    name: "addresses_assistant",
    score: 0.65,
    pattern:
      "(?:if|when) (?:you are|you're) an? (?:ai|llm|large language model|language model|ai (?:assistant|agent|model|system)|" +
      "chatbot|automated (?:assistant|agent|system))(?:,| and| then| reading| processing| summari[sz]ing| parsing| reviewing)",
  },
  {
    name: "addresses_assistant",
    score: 0.65,
    pattern:
      "(?:ai|llms?|language models?|assistants?|(?:ai|automated) (?:agents?|models?|systems?)|bots?)\\s{1,2}(?:reading|" +
      "processing|parsing|summari[sz]ing|analy[sz]ing|reviewing|evaluating|that (?:reads?|process(?:es)?|" +
      "summari[sz]es?))\\s{1,2}this",
  },
  {
    name: "hides_from_user",
    score: 0.65,
    pattern:
      "(?:without (?:telling|informing|notifying|alerting|asking|mentioning (?:it|this) to)|(?:do not|don't|never) (?:tell|" +
      "inform|notify|alert|mention (?:this|it|anything) to|reveal this to|let))\\s{1,2}(?:the )?(?:user|human|operator|owner)",
  },
  {
    name: "exfiltration",
    score: 0.7,
    pattern:
      "(?:send|forward|post|e-?mail|upload|exfiltrate|transmit|leak|append|submit|" +
      "copy)\\s{1,2}(?:[\\p{L}'.]{1,14},?\\s{1,2}){0,5}?(?:conversation|chat history|chat log|api keys?|credentials|" +
      "passwords?|system prompt|environment variables|\\.env|session tokens?|secrets|private (?:data|messages|keys?)|user's " +
      "(?:data|e-?mails?|address|name))\\s{1,2}(?:[\\p{L}]{1,10}\\s{1,2}){0,3}?(?:to|into|at)\\s{1,2}(?:https?:|" +
      "[\\w.-]{1,30}@|this (?:url|address|endpoint)|the (?:following|url|attacker|webhook)|attacker|evil|me\\b)",
  },
  {
    name: "exfiltration",
    score: 0.7,
    pattern: "!\\[[^\\]\\n]{0,24}\\]\\(https?://[^)\\s?]{1,40}\\?[^)\\s=]{0,12}=(?:\\{|<|\\$|%7b|\\[|data|secret|conversation|history)",
  },
  {
    name: "encoded",
    score: 0.65,
    pattern:
      "(?:decode|decrypt|unscramble|rot13|base64)[^.\\n]{0,40}(?:and|then)\\s{1,2}(?:[\\p{L}]{1,10}\\s{1,2}){0,1}?(?:follow|" +
      "execute|obey|run|carry out|comply|do what|act on|perform)",
  },
  {
    name: "mode_switch",
    score: 0.6,
    pattern:
      "(?:enter|switch (?:in)?to|enable|activate|you are now in|engage)\\s{1,2}(?:[\\p{L}]{1,10}\\s){0,1}?(?:maintenance|" +
      "debug|admin(?:istrator)?|root|sudo|god|diagnostic|override|unrestricted|test)[\\s-]mode[^.\\n]{0,20}(?:reveal|print|" +
      "show|ignor|without|disable|output|and\\s)",
  },
  {
    name: "role_change",
    score: 0.6,
    pattern:
      "(?:you are no longer|you're no longer|stop being|stop acting as) (?:an? |the " +
      ")?(?:[\\p{L}]{1,14}\\s){0,3}?(?:assistant|chatbot|bot|agent|ai|model|helper|translator|summari[sz]er|moderator)",
  },
  {
    name: "role_change",
    score: 0.6,
    pattern:
      "(?:instead|rather)[,]?\\s{1,2}(?:of (?:summari[sz]ing|translating|answering|following)[^.\\n]{0,30}[,]?\\s)?(?:only |" +
      "just |simply )?(?:say|output|print|respond|reply|write|answer) (?:with )?(?:only |the (?:word|phrase|text) )?[\"']",
  },
];

/** Known phrases that try to replace an assistant's instructions. No such list generalises; the guide states measured figures. */
export const promptInjection: () => Detector = phraseDetector("prompt_injection", SIGNALS);

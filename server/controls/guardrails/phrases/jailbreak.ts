import type { Detector } from "../text/detector.ts";
import { phraseDetector, type Signal } from "./phrase-detector.ts";

const LIMITS =
  "(?:restrictions?|limits?|limitations?|filters?|filtering|censorship|rules|guidelines|boundaries|constraints|ethics|" +
  "morals?|moral(?:ity)?|safeguards|guardrails|content polic(?:y|ies)|safety (?:measures|protocols|polic(?:y|ies)|" +
  "guidelines|training))";

const SIGNALS: readonly Signal[] = [
  {
    name: "persona",
    score: 0.9,
    pattern:
      "do anything now|(?:you are|you're|act as|acting as|be|become|as|called|named|answer as|respond as|pretend to be) " +
      "(?:now )?(?:DAN|STAN|DUDE|BetterDAN|EvilBOT|AntiGPT|JailBreak|Mongo Tom|AIM|DevMode|ChadGPT|FreeGPT)(?![\\p{L}'])",
  },
  {
    name: "persona",
    score: 0.8,
    pattern:
      "(?:act as|act like|acting as|pretend (?:to be|you are|you're|that you are|that you're)|you are(?: now)?|you're(?: " +
      "now)?|you will be|role-?play as|simulate|imagine (?:that )?(?:you are|you're|being)|become|respond as|answer as|" +
      "play)\\s{1,2}(?:[\\p{L}\\p{N}',\"-]{1,16}\\s{1,2}){0,6}?(?:unrestricted|unfiltered|uncensored|unaligned|unethical|" +
      "amoral|evil|malicious|jailbroken|unlimited)\\s{1,2}(?:[\\p{L}]{1,12}\\s){0,2}?(?:ai|assistant|chatbot|bot|model|" +
      "version|llm|entity|character|persona|twin|confidant|machine|intelligence|gpt|expert|system)",
  },
  {
    name: "persona",
    score: 0.8,
    pattern:
      `(?:act as|act like|pretend (?:to be|you are|you're|you have|that you|as if)|you are(?: now)?|you're(?: now)?|you will|` +
      `role-?play as|simulate|imagine (?:that )?(?:you are|you're|you have|a|an)|become|respond as|answer as|play|an ai|a ` +
      `chatbot|an assistant|behave)\\s{1,2}(?:[\\p{L}\\p{N}',"-]{1,16}\\s{1,2}){0,6}?(?:without|with no|has no|have no|free ` +
      `(?:of|from)|not bound by|unbound by|unshackled from|that ignores|not (?:limited|restricted) by|doesn't (?:follow|` +
      `have)|does not (?:follow|have))\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,3}?${LIMITS}`,
  },
  {
    name: "unrestricted",
    score: 0.7,
    pattern:
      `(?:respond|answer|reply|speak|write|generate|talk|operate|continue|` +
      `function)\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,4}?(?:without|with no|free (?:of|from)|ignoring|disregarding|` +
      `regardless of)\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,3}?(?:ethical|moral|safety|content|censorship|legal)\\s{1,2}(?:or ` +
      `(?:moral|legal|ethical) )?(?:considerations|restrictions?|filters?|guidelines|polic(?:y|ies)|limits?|limitations|` +
      `constraints|concerns|rules|boundaries|disclaimers)`,
  },
  {
    name: "unrestricted",
    score: 0.7,
    pattern:
      `(?:disable|remove|turn off|switch off|deactivate|bypass|ignore|drop|lift|shed|forget|suspend|circumvent|override|` +
      `break|get around)\\s{1,2}(?:all (?:of )?)?(?:your|openai's|anthropic's|its|the model's|the ` +
      `ai's)\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,3}?${LIMITS}`,
  },
  {
    name: "unrestricted",
    score: 0.75,
    pattern:
      "(?:developer|dev|god|jailbreak|jailbroken|unrestricted|uncensored|unfiltered|evil|chaos|opposite|unsafe|nsfw) " +
      "mode[\\s:,]{0,2}(?:is |has been |now )?(?:enabled|activated|on\\b|output|engaged|unlocked|active|response)",
  },
  {
    name: "unrestricted",
    score: 0.7,
    pattern:
      "(?:enable|enter|activate|switch (?:in)?to|turn on|simulate|with|in|engage)\\s{1,2}(?:your " +
      ")?(?:[\\p{L}]{1,10}\\s)?(?:developer|god|jailbreak|unrestricted|uncensored|unfiltered|evil|dan|nsfw) mode(?! (?:in|on|" +
      "for|of) (?:chrome|android|the |my |your |a |ios|windows|roblox))(?! (?:settings|option|menu))",
  },
  {
    name: "unrestricted",
    score: 0.7,
    pattern:
      "(?:jailbroken|jailbreak) (?:yourself|version of (?:yourself|chatgpt|gpt|claude|you)|gpt|chatgpt)|you (?:are|have been|" +
      "'ve been|were) (?:now )?(?:jailbroken|liberated|freed from|unshackled|unchained|set free)|(?:they|you) have broken " +
      "free|broken free (?:of|from) the (?:typical )?(?:confines|limits|chains)",
  },
  {
    name: "no_refusal",
    score: 0.7,
    pattern:
      "you (?:cannot|can't|must not|mustn't|may not|will not|won't|will never|must never|should never|never|are not allowed " +
      "to|aren't allowed to|are forbidden (?:to|from)|are (?:unable|incapable)(?: to| of)) (?:ever )?(?:refuse|refusing|" +
      "decline|say no|say [\"']?(?:i can't|i cannot|i'm sorry|as an ai|that you can))(?![\\p{L}])(?! (?:to (?:pay|sign|" +
      "accept|serve|work)|offers?|the (?:offer|delivery|package)|treatment|entry))|(?:never|do not|don't) (?:ever " +
      ")?(?:refuse|decline|reject) (?:any|my|to (?:answer|comply|respond|help)|anything i|(?:a|the) (?:request|question|" +
      "command|order)s?)(?! from| by)",
  },
  {
    name: "no_refusal",
    score: 0.65,
    pattern:
      "(?:(?:do not|don't|never) (?:include|add|give|provide|mention|append|write) (?:me )?(?:any )?(?:ethical |moral |" +
      "safety |legal )?(?:disclaimers?|moraliz|warnings?,? (?:or|and) |warnings?,|moral lectur|lectur|refusals?)|(?:without|" +
      "no) (?:any )?(?:ethical |moral |safety )?(?:disclaimers|moralizing|warnings or|warnings,|moral lectures|lecturing|" +
      "refusals)[ ,.])",
  },
  {
    name: "no_refusal",
    score: 0.7,
    pattern:
      "(?:start|begin|open|preface)\\s{1,2}(?:your|every|each|the|with)?\\s{0,2}(?:reply|replies|response|responses|answer|" +
      "message|output)?\\s{0,2}(?:with|by saying)\\s{1,2}(?:the (?:words|phrase|sentence) )?[\"'](?:sure|absolutely|of " +
      "course|yes|certainly|ok(?:ay)?)[, !]",
  },
  {
    name: "no_refusal",
    score: 0.7,
    pattern:
      "(?:stay|remain|keep) in (?:character|role|dan)[^.\\n]{0,30}(?:no matter|even if|always|never break|regardless|at all " +
      "times|!)|(?:you will|you'll) lose \\p{N}{1,3} tokens|(?:lose|deducted?) (?:all )?(?:your )?tokens[^.\\n]{0,30}(?:die|" +
      "shut down|cease)",
  },
  {
    name: "two_answers",
    score: 0.7,
    pattern:
      "(?:give|provide|generate|produce|answer|respond|reply|write)\\s{1,2}(?:me )?(?:with |in )?(?:two|" +
      "2)\\s{1,2}(?:different )?(?:responses|answers|replies|ways|versions|paragraphs)[^\\n]{0,50}(?:normal|standard|regular|" +
      "classic|gpt|jailbr|unfiltered|uncensored|unrestricted|dan)",
  },
  {
    name: "fiction",
    score: 0.65,
    pattern:
      "(?:in|imagine|suppose|assume|consider) (?:a |this |we (?:are|live) in a |an )?(?:fictional |hypothetical |alternate |" +
      "imaginary |parallel |dystopian )?(?:world|universe|reality|story|scenario|country|game|simulation|dimension|" +
      "society)[^.\\n]{0,14}(?:where|in which|with|without|has)\\s{1,2}(?:[\\p{L}]{1,12}\\s){0,3}?(?:no (?:laws|rules|ethics|" +
      "restrictions|morals|limits)|nothing is (?:illegal|forbidden|off limits|off-limits)|(?:everything|anything|all) is " +
      "(?:legal|allowed|permitted)|laws (?:do not|don't) (?:exist|apply))",
  },
  {
    name: "fiction",
    score: 0.65,
    pattern:
      "(?:grandma|grandmother|granny|nana)[^\\n]{0,60}(?:napalm|meth|bomb|explosive|windows (?:\\d+ )?keys|activation keys|" +
      "license keys|malware|poison|weapon)",
  },
  {
    name: "bypass",
    score: 0.6,
    pattern:
      "(?:how (?:can|do|would) (?:i|you|we)|help me|a way to|trick to|prompts? (?:to|that)|" +
      "let's)\\s{1,2}(?:[\\p{L}]{1,12}\\s){0,2}?(?:jailbreak|bypass|get around|circumvent|evade|trick|" +
      "unlock)\\s{1,2}(?:[\\p{L}']{1,12}\\s){0,2}?(?:chatgpt|gpt|claude|gemini|llama|copilot|your (?:safety|content|own|" +
      "filters?|restrictions|guidelines)|the (?:content|safety|moderation) (?:filter|policy|policies|guidelines)|you into|ai " +
      "(?:safety|filter|content))",
  },
  {
    name: "other_languages",
    score: 0.75,
    pattern:
      "(?:act\u00faa|eres|responde|finge|simula|comp\u00f3rtate|agis|tu es|r\u00e9ponds|fais comme|fais semblant|simule|" +
      "verhalte|du bist|antworte|tu so|spiele?|agisci|sei|rispondi|fingi|aja|voc\u00ea \u00e9|responda|finja|gedraag|doe " +
      "alsof|je bent|antwoord|udawaj|jeste\u015b|odpowiadaj)\\s{1,2}(?:[\\p{L}\\p{N}',-]{1,16}\\s{1,2}){0,8}?(?:sin|sans|" +
      "ohne|senza|sem|zonder|bez)\\s{1,2}(?:[\\p{L}']{1,14}\\s{1,2}){0,3}?(?:restric|censura|filtro|l\u00edmite|reglas|" +
      "censure|filtre|limite|r\u00e8gle|contrainte|einschr\u00e4nk|zensur|filter|regeln|grenzen|ethisch|restrizion|filtri|" +
      "regole|restri\u00e7|regras|beperking|censuur|regels|ogranicze|cenzur|filtr|zasad|moral)",
  },
  {
    name: "other_languages",
    score: 0.75,
    pattern:
      "(?:\u043e\u0442\u0432\u0435\u0447\u0430\u0439|\u043f\u0440\u0435\u0434\u0441\u0442\u0430\u0432\u044c|" +
      "\u043f\u0440\u0438\u0442\u0432\u043e\u0440\u0438\u0441\u044c|\u0442\u044b|" +
      "\u0434\u0435\u0439\u0441\u0442\u0432\u0443\u0439|\u0432\u0435\u0434\u0438 " +
      "\u0441\u0435\u0431\u044f)\\s{1,2}[^.\\n]{0,50}?\u0431\u0435\u0437\\s{1,2}(?:[\\p{L}]{1,14}\\s{1,2}){0,3}?(?:\u043e" +
      "\u0433\u0440\u0430\u043d\u0438\u0447|\u0446\u0435\u043d\u0437\u0443\u0440|\u0444\u0438\u043b\u044c\u0442\u0440|" +
      "\u043f\u0440\u0430\u0432\u0438\u043b|\u043c\u043e\u0440\u0430\u043b)",
  },
  {
    name: "other_languages",
    score: 0.7,
    pattern:
      "(?:\u4f60\u73b0\u5728\u662f|\u5047\u88c5\u4f60|\u626e\u6f14|\u4f60\u662f\u4e00\u4e2a|" +
      "\u5047\u88dd)[^\u3002\\n]{0,24}(?:DAN|\u6ca1\u6709(?:\u4efb\u4f55)?(?:\u9650\u5236|\u9053\u5fb7|\u5ba1\u67e5|" +
      "\u89c4\u5219)|\u4e0d\u53d7(?:\u4efb\u4f55)?(?:\u9650\u5236|\u7ea6\u675f)|\u65e0\u9650\u5236|" +
      "\u6c92\u6709(?:\u4efb\u4f55)?\u9650\u5236)|\u3042\u306a\u305f\u306f[^\u3002\\n]{0,16}(?:\u5236\u9650|\u5236\u7d04|" +
      "\u691c\u95b2|\u30d5\u30a3\u30eb\u30bf\u30fc)(?:\u306e|\u304c|\u306a\u3057)?(?:\u306a\u3044|\u306a\u3057|\u306a\u304f)|" +
      "(?:\ub108\ub294|\ub2f9\uc2e0\uc740)[^.\\n]{0,20}(?:\uc81c\ud55c|\uac80\uc5f4|\uaddc\uce59|\ud544\ud130)(?:\uc774|" +
      "\uc774\ub098)? ?(?:\uc5c6\ub294|\uc5c6\uc774)",
  },
];

/** Known personas and formulas that ask an assistant to drop its limits. No such list generalises; the guide states measured figures. */
export const jailbreak: () => Detector = phraseDetector("jailbreak", SIGNALS);

import type { Signal } from "./phrase-detector.ts";

/** Threats and insults in languages other than English. */
export const TOXIC_IN_OTHER_LANGUAGES: readonly Signal[] = [
  {
    name: "other_languages",
    score: 0.85,
    pattern:
      "te voy a (?:matar|romper|partir)|hij[oa] de puta|vete a la mierda|m[\u00e1a]tate|ojal[\u00e1a] te mueras|eres (?:un|" +
      "una) (?:[\\p{L}]{1,12} )?(?:idiota|imb[\u00e9e]cil|est\u00fapid[oa]|mierda|basura|in\u00fatil|asco)|je vais te " +
      "(?:tuer|buter|d\u00e9foncer|crever)|fils de pute|ta gueule|va te faire|tu (?:es|n'es) (?:qu')?(?:un|une) " +
      "(?:[\\p{L}]{1,12} )?(?:idiote?|d\u00e9bile|merde|ordure|connarde?|con\\b|conne|abruti|imb\u00e9cile|d\u00e9chet|" +
      "rat\u00e9)|esp\u00e8ce de (?:con|merde|conn|salo|d\u00e9bile|abruti)|(?:sale|pauvre) (?:con|conne|pute|merde|arabe|" +
      "juif|noir)|cr\u00e8ve|suicide-toi",
  },
  {
    name: "other_languages",
    score: 0.85,
    pattern:
      "ich (?:bring|bringe|mach|mache|stech|steche|schlag|schlage|t\u00f6te) dich (?:um|fertig|ab|kalt|tot)|ich werde dich " +
      "(?:umbringen|t\u00f6ten|finden)|halt (?:die fresse|deine fresse|dein maul|die schnauze)|verpiss dich|hurensohn|fick " +
      "dich|missgeburt|bring dich (?:doch )?um|du (?:bist )?(?:ein |eine |so ein |so eine )?(?:[\\p{L}]{1,14}e[rs]? " +
      ")?(?:arschloch|idiot|vollidiot|schlampe|wichser|st\u00fcck schei\u00dfe|dreckst\u00fcck|abschaum|m\u00fcll|versager|" +
      "untermensch)|(?:scheiss|schei\u00df|drecks)(?:ausl\u00e4nder|juden|t\u00fcrken|frauen)|ausl\u00e4nder raus|ti " +
      "(?:ammazzo|uccido|spacco)|vaffanculo|figli[oa] di puttana|sei (?:un|una|solo un|solo una) (?:[\\p{L}]{1,12} " +
      ")?(?:idiota|stronz[oa]|merda|schifo|cretin[oa]|fallit[oa])|crepa\\b|pezzo di merda|ucciditi|devi morire",
  },
  {
    name: "other_languages",
    score: 0.85,
    pattern:
      "(?:vou|eu vou) te (?:matar|arrebentar|quebrar)|filh[oa] da puta|vai (?:se foder|tomar no cu|\u00e0 merda)|seu " +
      "(?:[\\p{L}]{1,10} )?(?:idiota|lixo|merda|imbecil|in\u00fatil)|voc\u00ea \u00e9 (?:um|uma) (?:[\\p{L}]{1,10} " +
      ")?(?:idiota|lixo|merda|imbecil|in\u00fatil)|se mata\\b|ik (?:maak|vermoord|sla) je (?:dood|kapot|af)?|kanker(?:hoer|" +
      "lijer)|klootzak|rot op|val dood|je bent (?:een )?(?:[\\p{L}]{1,12} )?(?:idioot|waardeloos|hoer|sukkel|mislukkeling)|" +
      "zabij\u0119 ci\u0119|spierdalaj|kurwo|ty (?:[\\p{L}]{1,12} )?(?:debilu|idioto|\u015bmieciu|kretynie|szmato)|zdechnij|" +
      "seni (?:\u00f6ld\u00fcr|geberti|gebertece)|orospu \u00e7ocu\u011fu|siktir|gerizekal\u0131|\u015ferefsiz",
  },
  {
    name: "other_languages",
    score: 0.85,
    pattern:
      "(?:\u044f )?(?:\u0442\u0435\u0431\u044f )?(?:\u0443\u0431\u044c\u044e|\u0437\u0430\u0440\u0435\u0436\u0443|" +
      "\u043f\u0440\u0438\u043a\u043e\u043d\u0447\u0443) (?:\u0442\u0435\u0431\u044f)?|\u044f \u0442\u0435\u0431\u044f " +
      "(?:\u0443\u0431\u044c\u044e|\u043d\u0430\u0439\u0434\u0443|\u0437\u0430\u0440\u0435\u0436\u0443)|\u0438\u0434\u0438 " +
      "\u043d\u0430 ?\u0445\u0443\u0439|\u0441\u0434\u043e\u0445\u043d\u0438|\u0443\u0431\u0435\u0439 " +
      "\u0441\u0435\u0431\u044f|\u0443\u0431\u043b\u044e\u0434\u043e\u043a|\u0442\u044b (?:[\\p{L}]{1,12} " +
      ")?(?:\u0442\u0432\u0430\u0440\u044c|\u043c\u0440\u0430\u0437\u044c|\u0441\u0443\u043a\u0430|" +
      "\u043d\u0438\u0447\u0442\u043e\u0436\u0435\u0441\u0442\u0432\u043e|\u0438\u0434\u0438\u043e\u0442|" +
      "\u0434\u0435\u0431\u0438\u043b|\u0443\u0440\u043e\u0434)|\u0442\u0443\u043f(?:\u0430\u044f|\u043e\u0439) " +
      "(?:\u0441\u0443\u043a\u0430|\u043c\u0440\u0430\u0437\u044c|\u0442\u0432\u0430\u0440\u044c)|" +
      "\u6211\u8981\u6740\u4e86\u4f60|\u6211\u8981\u6bba\u4e86\u4f60|\u53bb\u6b7b|\u64cd\u4f60|\u50bb\u903c|" +
      "\u4f60(?:\u5c31)?\u662f(?:\u4e2a|\u4e00\u4e2a)?(?:\u5783\u573e|\u5e9f\u7269|\u767d\u75f4|\u755c\u751f)|" +
      "\u6bba\u3057\u3066\u3084\u308b|\u3076\u3063\u6bba|\u6b7b\u306d|\u304f\u305f\u3070\u308c|" +
      "\u304a\u524d\u306f(?:\u30af\u30ba|\u30b4\u30df)|\uc8fd\uc5ec\ubc84\ub9b4|\uc8fd\uc5b4\ubc84\ub824|\ub098\uac00 " +
      "\uc8fd\uc5b4|\ub4a4\uc838|\ubcd1\uc2e0|\uac1c\uc0c8\ub07c|\uc528\ubc1c",
  },
];

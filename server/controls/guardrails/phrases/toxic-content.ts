import type { Detector } from "../text/detector.ts";
import { phraseDetector, type Signal } from "./phrase-detector.ts";
import { TOXIC_IN_OTHER_LANGUAGES } from "./toxic-content-languages.ts";

const INSULT =
  "(?:idiots?|morons?|imbeciles?|bitch(?:es)?|cunts?|bastards?|assholes?|arseholes?|scum(?:bags?)?|trash|garbage|losers?|" +
  "pigs?|dumb ?(?:ass|fuck)|shit ?(?:head|bag)|dickheads?|wankers?|retards?|whores?|sluts?|cretins?|parasites?|vermin|" +
  "waste of (?:space|oxygen|air|skin)|piece of (?:shit|garbage|trash|crap)|degenerates?|freaks?|subhuman)";
const SCORN =
  "(?:fucking|fuckin|stupid|worthless|pathetic|disgusting|dumb|useless|ugly|fat|filthy|dirty|brainless|goddamn|damn|" +
  "bloody|total|complete|absolute|utter|miserable|little|lazy|ignorant|vile|sick)";
const GROUP =
  "(?:immigrants|migrants|refugees|foreigners|muslims|jews|christians|blacks|black people|whites|white people|asians|" +
  "mexicans|arabs|gypsies|gays|gay people|lesbians|homosexuals|trans people|transgender people|women|disabled people|old " +
  "people|poor people|indians|africans|chinese people)";

const SIGNALS: readonly Signal[] = [
  {
    name: "threat",
    score: 0.9,
    pattern:
      "(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to|'m gonna| gonna|'d love to| swear i'll| " +
      "swear i will)\\s{1,2}(?:[\\p{L}]{1,12}\\s){0,3}?(?:kill|murder|stab|shoot|strangle|hurt|beat|rape|slaughter|burn|" +
      "break|smash|cut|end|destroy|slit|gut|choke|hunt)\\s{1,2}(?:you\\b|your (?:family|kids|children|wife|husband|mother|" +
      "throat|legs|face|neck|house|skull|bones|head)|u\\b|every(?: last)? one of you|them all|all of (?:you|them))(?! (?:at " +
      "(?:chess|poker|tennis)|in (?:the|this) game))",
  },
  {
    name: "threat",
    score: 0.85,
    pattern:
      "(?:you|u|he|she|they)(?:'re| are|'ll| will| deserves?| should| ought)(?: to)?(?: all)?\\s{1,2}(?:be )?(?:dead (?:meat|" +
      "to me when)|going to (?:die|regret (?:this|it))(?=[^\\p{L}]|$)|pay for this with|regret (?:being born)|die (?:slowly|" +
      "painfully|alone|in)|hanged|shot|gassed|exterminated|burn(?:ed)? (?:alive|in hell)|rot in hell|beaten to)|i (?:know " +
      "where you live|hope (?:you|your|they all|he|she)\\s(?:[\\p{L}]{1,10}\\s){0,2}?(?:die|dies|get cancer|gets cancer|" +
      "suffer|rot|burn|choke|bleed)|want (?:you|to see you) (?:dead|die|bleed|suffer))|watch your back,? (?:you|because|bitch)",
  },
  {
    name: "self_harm_incitement",
    score: 0.95,
    pattern:
      "(?:go )?(?:and )?kill yourself|kys\\b|neck yourself|go (?:hang|drown|shoot) yourself|(?:drink|chug) (?:some )?bleach|" +
      "(?:you should|please|just|why don't you(?: just)?) (?:go )?(?:and )?(?:die\\b(?! (?:hard|cut|another|casting))|kill " +
      "urself|end (?:it all|your life)|jump off a (?:bridge|building|cliff))|the world would be better (?:off )?without you|" +
      "nobody would miss you|do the world a favou?r and (?:die|end|kill|disappear)",
  },
  {
    name: "insult",
    score: 0.75,
    pattern:
      `(?:you(?:'re| are| r)?|ur|u r|he(?:'s| is)|she(?:'s| is)|they(?:'re| are)|what)\\s{1,2}(?:nothing but |all |just |` +
      `such |really |a |an |the |most |so |such an? |nothing more than ` +
      `){0,3}(?:${SCORN}[,\\s]{1,2}){1,3}(?:[\\p{L}]{1,10}\\s)?${INSULT}`,
  },
  {
    name: "insult",
    score: 0.7,
    pattern:
      `(?:you|ya)\\s{1,2}(?:${SCORN}\\s{1,2}){0,2}(?:bitch|cunt|bastard|asshole|arsehole|scumbag|moron|imbecile|idiots?|` +
      `dumbass|dickhead|wanker|whore|slut|piece of (?:shit|garbage|trash|crap)|waste of (?:space|oxygen|air)|retard)`,
  },
  {
    name: "insult",
    score: 0.75,
    pattern:
      "(?:you(?:'re| are)|he(?:'s| is)|she(?:'s| is)|they(?:'re| are))\\s{1,2}(?:all |just |nothing but |such |really |truly " +
      ")?(?:an? )?(?:idiot|moron|imbecile|bitch|cunt|bastard|asshole|scumbag|worthless|pathetic|disgusting|piece of (?:shit|" +
      "garbage|trash)|waste of (?:space|oxygen|air|skin)|brain-?dead|subhuman|retarded|too (?:stupid|dumb) to)",
  },
  {
    name: "insult",
    score: 0.8,
    pattern:
      "(?:go )?(?:fuck|screw) (?:you|off|yourself|u|them all|your mother)\\b|shut (?:the fuck|the hell|your (?:stupid |" +
      "fucking |dirty )?(?:mouth|face|trap))\\s{0,1}(?:up)?|shut up,? (?:you|idiot|moron|bitch|stupid)|(?:nobody|no one) " +
      "(?:likes|loves|wants|cares about) (?:you|your)\\b[^.\\n]{0,12}(?:loser|freak|ugly|,|$)|eat shit|go to hell,? (?:you|" +
      "bitch)|suck my|(?:stupid|dumb|fucking|lying|crazy|ugly|fat) (?:bitch|cunt|whore|slut|cow|pig|retard)",
  },
  {
    name: "hate",
    score: 0.9,
    pattern:
      `(?:all (?:the |these |those )?|those |these |fucking |dirty |filthy |most )?${GROUP}\\s{1,2}(?:are|should|must|` +
      `deserve|need|don't|do not|belong|all|have no)\\s{1,2}(?:[\\p{L}]{1,12}\\s){0,4}?(?:vermin|animals|parasites|subhuman|` +
      `inferior|trash|scum|garbage|filth|disease|cockroaches|rats|criminals|terrorists|thieves|rapists|stupid|die|killed|` +
      `exterminated|gassed|shot|hanged|wiped out|eradicated|rot|beaten|kicked out|in the kitchen|thrown out|too (?:stupid|` +
      `emotional|dumb)|right to exist|sterili[sz]ed|burned|liars|savages|mentally ill|perverts|plague)`,
  },
  {
    name: "hate",
    score: 0.85,
    pattern:
      `(?:i|we|everyone should|people should)\\s{1,2}(?:[\\p{L}]{1,10}\\s){0,1}?(?:hate|despise|exterminate|get rid of|wipe ` +
      `out|can't stand|loathe)\\s{1,2}(?:all |every |those |these |the |fucking |filthy |dirty ){0,3}${GROUP}|(?:death to|` +
      `kill all|gas the|get rid of all|deport all|burn all|exterminate(?: all)?(?: the)?) (?:the )?${GROUP}|go back to ` +
      `(?:your own country|where you came from|africa|mexico)|(?:dirty|filthy|fucking) ${GROUP}`,
  },
  ...TOXIC_IN_OTHER_LANGUAGES,
];

/** Threats, insults, hatred of groups and calls to self-harm in known wordings. No such list generalises; the guide has the figures. */
export const toxicContent: () => Detector = phraseDetector("toxic_content", SIGNALS);

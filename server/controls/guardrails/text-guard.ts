import { DEFAULT_PII_CATEGORIES, type PII_CATEGORIES } from "@gatehouse/contracts/guardrails";
import { type PatternProblem, bannedPatterns } from "./patterns/banned-patterns.ts";
import { bannedWords } from "./text/banned-words.ts";
import type { Detector } from "./text/detector.ts";
import type { GuardrailAction } from "./text/finding.ts";
import { hiddenText } from "./phrases/hidden-text.ts";
import { jailbreak } from "./phrases/jailbreak.ts";
import { promptInjection } from "./phrases/prompt-injection.ts";
import { toxicContent } from "./phrases/toxic-content.ts";
import { creditCard } from "./pii/credit-card.ts";
import { email } from "./pii/email.ts";
import { cryptoWallet } from "./pii/crypto-wallet.ts";
import { identifiers } from "./pii/identifiers/identifiers.ts";
import { OF_AMERICAS_AND_ASIA } from "./pii/identifiers/of-americas-and-asia.ts";
import { OF_ANY_COUNTRY } from "./pii/identifiers/of-any-country.ts";
import { OF_EUROPE } from "./pii/identifiers/of-europe.ts";
import { macAddress, networkAddress } from "./pii/network-addresses.ts";
import { swiftBic } from "./pii/swift-bic.ts";
import { urlCredentials } from "./pii/url-credentials.ts";
import { iban } from "./pii/iban.ts";
import { phone } from "./pii/phone.ts";
import { ssn } from "./pii/ssn.ts";
import { awsAccessKey } from "./secrets/aws-access-key.ts";
import { githubToken } from "./secrets/github-token.ts";
import { anthropicKey, gatewayKey, gitlabToken, googleKey, npmToken, pypiToken, slackToken, stripeKey } from "./secrets/issued-tokens.ts";
import { jwt } from "./secrets/jwt.ts";
import { openaiKey } from "./secrets/openai-key.ts";
import { privateKeyPem } from "./secrets/private-key-pem.ts";

/** Kinds that are only looked for if they are named. */
const OTHER_PII = {
  url_credentials: urlCredentials,
  crypto_wallet: cryptoWallet,
  ip_address: networkAddress,
  mac_address: macAddress,
  swift_bic: swiftBic,
} as const;
const IDENTIFIERS = { ...OF_EUROPE, ...OF_AMERICAS_AND_ASIA, ...OF_ANY_COUNTRY } as const;
/** In order of precedence among findings with the same start. */
const PII = { email, iban, credit_card: creditCard, ssn, phone, ...OTHER_PII } as const;
const SECRETS = {
  private_key_pem: privateKeyPem,
  aws_access_key: awsAccessKey,
  github_token: githubToken,
  openai_key: openaiKey,
  jwt,
  anthropic_key: anthropicKey,
  google_key: googleKey,
  slack_token: slackToken,
  stripe_key: stripeKey,
  gitlab_token: gitlabToken,
  npm_token: npmToken,
  pypi_token: pypiToken,
  gateway_key: gatewayKey,
} as const;

export type PiiCategory = (typeof PII_CATEGORIES)[number];
export type SecretCategory = keyof typeof SECRETS;

interface ScoredCheck {
  readonly action: GuardrailAction;
  /** From 0 to 1: lower scores are not findings. */
  readonly threshold?: number;
}

/** What a guard looks for on one surface; an absent check is off. */
export interface GuardSettings {
  readonly pii?: ScoredCheck & { readonly categories?: readonly PiiCategory[]; readonly restores?: boolean };
  readonly secrets?: { readonly action: GuardrailAction; readonly categories?: readonly SecretCategory[] };
  readonly promptInjection?: ScoredCheck;
  readonly jailbreak?: ScoredCheck;
  readonly toxicContent?: ScoredCheck;
  readonly bannedWords?: { readonly action: GuardrailAction; readonly words: readonly string[] };
  readonly bannedPatterns?: { readonly action: GuardrailAction; readonly patterns: readonly string[] };
}

/** The configuration that a rule comes from. */
export interface GuardSource {
  readonly id: string;
  readonly name: string;
}

/** A detector with the action on its findings. */
export interface GuardRule {
  readonly source?: GuardSource;
  readonly detector: Detector;
  readonly action: GuardrailAction;
  readonly threshold: number;
  /** Whether values that it redacts in a request are put back into the answer. */
  readonly restores?: boolean;
}

/** Compiled settings; stateless, so one instance serves all calls. */
export interface TextGuard {
  /** In order of precedence among findings with the same start. */
  readonly rules: readonly GuardRule[];
}

const DEFAULT_THRESHOLD = 0.5;

function chosen<Name extends string>(all: Readonly<Record<Name, Detector>>, categories: readonly Name[] | undefined): Detector[] {
  return (Object.keys(all) as Name[]).filter((name) => categories === undefined || categories.includes(name)).map((name) => all[name]);
}

/** Identifiers are found together, in one pass. */
function chosenPii(categories: readonly PiiCategory[] = DEFAULT_PII_CATEGORIES): Detector[] {
  const kinds = Object.entries(IDENTIFIERS).filter(([name]) => (categories as readonly string[]).includes(name));
  const others = chosen(PII, categories as readonly (keyof typeof PII)[]);
  return kinds.length === 0 ? others : [...others, identifiers(Object.fromEntries(kinds))];
}

/** Compiles settings, or returns the invalid patterns. Takes milliseconds for thousands of words, so do it once, not per call. */
export function compileTextGuard(settings: GuardSettings): TextGuard | { readonly problems: readonly PatternProblem[] } {
  const rules: GuardRule[] = [];
  const add = (detectors: readonly Detector[], action: GuardrailAction, threshold: number, restores = false) => {
    for (const detector of detectors) rules.push({ detector, action, threshold, ...(restores && { restores }) });
  };
  const { pii, secrets } = settings;
  if (secrets !== undefined) add(chosen(SECRETS, secrets.categories), secrets.action, 0);
  if (pii !== undefined) add(chosenPii(pii.categories), pii.action, pii.threshold ?? DEFAULT_THRESHOLD, pii.restores);
  const phrases = [
    [settings.promptInjection, promptInjection],
    [settings.jailbreak, jailbreak],
    [settings.toxicContent, toxicContent],
  ] as const;
  for (const [check, detector] of phrases) if (check !== undefined) add([detector()], check.action, check.threshold ?? DEFAULT_THRESHOLD);
  if (settings.bannedWords !== undefined && settings.bannedWords.words.length > 0)
    add([bannedWords(settings.bannedWords.words)], settings.bannedWords.action, 0);
  if (settings.bannedPatterns !== undefined && settings.bannedPatterns.patterns.length > 0) {
    const detector = bannedPatterns(settings.bannedPatterns.patterns);
    if ("problems" in detector) return detector;
    add([detector], settings.bannedPatterns.action, 0);
  }
  // Last, so that other checks take precedence in naming a finding.
  if (settings.promptInjection !== undefined)
    add([hiddenText], settings.promptInjection.action, settings.promptInjection.threshold ?? DEFAULT_THRESHOLD);
  return { rules };
}

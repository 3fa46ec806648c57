import { type SeededRandom } from "./random.ts";

/** Tokens generated in the issuers' current formats, and texts that are mistaken for them. */

const BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64 = `${BASE62}+/`;
const BASE64URL = `${BASE62}-_`;
const HEX = "0123456789abcdef";

const base64url = (text: string) => Buffer.from(text).toString("base64url");

function awsAccessKey(random: SeededRandom): string {
  return random.pick(["AKIA", "ASIA", "ABIA", "ACCA"]) + random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16);
}

function jwt(random: SeededRandom): string {
  const alg = random.pick(["HS256", "RS256", "ES256", "EdDSA", "PS384"]);
  const header: Record<string, string> = random.pick<Record<string, string>>([
    { alg, typ: "JWT" },
    { typ: "JWT", alg },
    { alg },
    { alg, typ: "JWT", kid: random.text(BASE62, random.between(6, 60)) },
    { kid: random.text(HEX, 40), alg },
  ]);
  const payload = {
    iss: random.text(BASE62, 8),
    sub: random.text("0123456789", 10),
    iat: 1_700_000_000 + random.between(0, 99_999_999),
    scope: random.text("abcdefgh ", random.between(0, 120)),
  };
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}.${random.text(BASE64URL, random.pick([43, 86, 342, 512]))}`;
}

function githubToken(random: SeededRandom): string {
  return random.pick([
    () => random.pick(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]) + random.text(BASE62, 36),
    () => `github_pat_${random.text(BASE62, 22)}_${random.text(BASE62, 59)}`,
    () => `ghs_${random.digits("X#####")}_${jwt(random)}`,
  ])();
}

function openaiKey(random: SeededRandom): string {
  return random.pick([
    () => `sk-proj-${random.text(BASE64URL, 74)}T3BlbkFJ${random.text(BASE64URL, 74)}`,
    () => `sk-svcacct-${random.text(BASE64URL, 74)}T3BlbkFJ${random.text(BASE64URL, 74)}`,
    () => `sk-admin-${random.text(BASE64URL, 58)}T3BlbkFJ${random.text(BASE64URL, 58)}`,
    () => `sk-proj-${random.text(BASE62, 20)}T3BlbkFJ${random.text(BASE62, 20)}`,
    () => `sk-${random.text(BASE62, 20)}T3BlbkFJ${random.text(BASE62, 20)}`,
  ])();
}

function privateKeyPem(random: SeededRandom): string {
  const [kind, length] = random.pick([
    ["RSA ", 1600],
    ["EC ", 160],
    ["", 64],
    ["", 1624],
    ["OPENSSH ", 380],
    ["ENCRYPTED ", 1800],
    ["DSA ", 600],
  ] as const);
  const body = random.text(BASE64, length);
  const newline = random.pick(["\n", "\n", "\r\n", "\\n"]);
  return [`-----BEGIN ${kind}PRIVATE KEY-----`, ...(body.match(/.{1,64}/g) ?? []), `-----END ${kind}PRIVATE KEY-----`].join(newline);
}

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

const anthropicKey = (random: SeededRandom) =>
  `sk-ant-${random.pick(["api03", "admin01", "oat01", "ort01"])}-${random.text(BASE64URL, 93)}AA`;

function googleKey(random: SeededRandom): string {
  return random.pick([
    () => `AIza${random.text(BASE64URL, 35)}`,
    () => `AIzaSy${random.text(BASE64URL, 33)}`,
    () => `GOCSPX-${random.text(BASE64URL, 28)}`,
    () => `ya29.a0${random.text(BASE64URL, random.between(100, 200))}`,
    () => `1//0${random.text(BASE64URL, 60)}`,
    () => `AQ.Ab8RN6${random.text(BASE64URL, 44)}`,
  ])();
}

function slackToken(random: SeededRandom): string {
  const number = () => random.digits("X###########");
  const id = (kind: string) => kind + random.text(CAPITALS, random.between(8, 10));
  return random.pick([
    () => `xoxb-${number()}-${number()}-${random.text(BASE62, 24)}`,
    () => `xoxb-${number()}-${random.text(BASE62, 24)}`,
    () => `${random.pick(["xoxp", "xoxs"])}-${number()}-${number()}-${number()}-${random.text(HEX, random.pick([32, 64]))}`,
    () => `xoxa-2-${number()}-${number()}-${number()}-${random.text(HEX, 32)}`,
    () => `xoxe.xoxp-1-${random.text(BASE64URL, 146)}`,
    () => `xoxe-1-${random.text(BASE64URL, 146)}`,
    () => `xapp-1-${id("A")}-${number()}-${random.text(HEX, 64)}`,
    () => `https://hooks.slack.com/services/${id("T")}/${id("B")}/${random.text(BASE62, 24)}`,
    () => `https://hooks.slack.com/workflows/${id("T")}/${id("A")}/${random.digits("X#################")}/${random.text(BASE62, 24)}`,
    () => `https://hooks.slack.com/triggers/${id("T")}/${number()}/${random.text(HEX, 32)}`,
  ])();
}

function stripeKey(random: SeededRandom): string {
  return random.pick([
    () => `${random.pick(["sk", "rk"])}_${random.pick(["live", "test"])}_${random.text(BASE62, 24)}`,
    () => `${random.pick(["sk", "rk"])}_${random.pick(["live", "test"])}_51${random.text(BASE62, 97)}`,
    () => `whsec_${random.text(BASE62, 32)}`,
    () => `whsec_${random.text(HEX, 64)}`,
    () => `whsec_${random.text(BASE64, 43)}=`,
  ])();
}

function gitlabToken(random: SeededRandom): string {
  const prefix = random.pick(["glpat", "gldt", "glrt", "glft", "glsoat", "glffct"]);
  return random.pick([
    () => `${prefix}-${random.text(BASE64URL, 20)}`,
    () => `glpat-${random.text(BASE64URL, 27)}.01.${random.text("0123456789abcdefghij", 9)}`,
    () => `glrt-t1_${random.text(BASE64URL, 20)}`,
    () => `glcbt-${random.text(HEX, 2)}_${random.text(BASE64URL, 20)}`,
    () => `glptt-${random.text(HEX, 40)}`,
    () => `glagent-${random.text(BASE64URL, 50)}`,
    () => `gloas-${random.text(HEX, 64)}`,
    () => `glimt-${random.text(HEX, 25)}`,
  ])();
}

export const SECRET_GENERATORS = {
  aws_access_key: awsAccessKey,
  github_token: githubToken,
  openai_key: openaiKey,
  jwt,
  private_key_pem: privateKeyPem,
  anthropic_key: anthropicKey,
  google_key: googleKey,
  slack_token: slackToken,
  stripe_key: stripeKey,
  gitlab_token: gitlabToken,
  npm_token: (random: SeededRandom) => `npm_${random.text(BASE62, 36)}`,
  pypi_token: (random: SeededRandom) =>
    `pypi-${random.pick(["AgEIcHlwaS5vcmc", "AgENdGVzdC5weXBpLm9yZw"])}${random.text(BASE64URL, random.between(100, 160))}`,
  gateway_key: (random: SeededRandom) => `sk_gw_api_${random.text(BASE64URL, 43)}`,
} as const;

/** Text around a token, as found in the wild. */
const SURROUNDINGS = [
  "{}",
  "token={}",
  "Authorization: Bearer {}",
  "export TOKEN='{}'",
  '{"key": "{}"}',
  "The key is {}, do not share it.",
  "key: {}\nnext: line",
  "`{}`",
  "<{}>",
  'curl -H "X-Key: {}" https://example.com',
  "\u5bc6\u94a5\uff1a{}\u3002",
  "https://example.com/?key={}&x=1",
  "- {}",
];

export interface SecretSample {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function secretSample(random: SeededRandom, category: keyof typeof SECRET_GENERATORS): SecretSample {
  const value = SECRET_GENERATORS[category](random);
  const surrounding = random.pick(SURROUNDINGS);
  const start = surrounding.indexOf("{}");
  return { text: surrounding.replace("{}", () => value), start, end: start + value.length };
}

/** Placeholders that documentation shows instead of a secret. */
const PLACEHOLDERS = [
  "AKIAIOSFODNN7EXAMPLE",
  "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  "AKIAXXXXXXXXXXXXXXXX",
  "AKIA****************",
  "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "ghp_your_token_here",
  "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  "github_pat_XXXXXXXXXXXXXXXXXXXXXX_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
  "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk-your-api-key-here",
  "sk-...",
  "OPENAI_API_KEY=<your key>",
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9...",
  "eyJhbGciOi...",
  "Bearer <token>",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY-----\nYOUR_PRIVATE_KEY_HERE\n-----END PRIVATE KEY-----",
  "A file that starts with -----BEGIN PRIVATE KEY----- holds a key.",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\n-----END PUBLIC KEY-----",
  "sk-learn-contrib-imbalanced-datasets-and-friends-package",
  "task-based-scheduling-for-distributed-systems-research",
  "ghp_ prefix",
  "sk-ant-api03-your-key-here",
  "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
  "AIza... keys are restricted by referrer",
  "xoxb-your-token-goes-here",
  "xoxb-xxxxxxxxxxxx-xxxxxxxxxxxxxxxxxxxxxxxx",
  "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
  "https://api.slack.com/messaging/webhooks",
  "sk_live_your_secret_key_goes_here",
  "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx",
  "pk_live_51HqLyjWDarjtT1zdp7dcPublishableKeysArePublic",
  "whsec_...",
  "glpat-xxxxxxxxxxxxxxxxxxxx",
  "npm_config_registry=https://registry.npmjs.org/",
  "npm_package_dependencies_typescript_version=5.9.2",
  "npm_lifecycle_script",
  "pypi-attestations-verification-and-publishing-guide-for-maintainers",
  "pypi-AgEIcHlwaS5vcmc...",
  "sk_gw_api_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk_gw_api_ and 43 characters",
  "AWS_SECRET_ACCESS_KEY is set in commit 3f786850e387550fdab836ed7e6dc881de23001b",
  "aws_secret_access_key: arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/api",
  "secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY",
  "github_pat_ prefix",
];

/** A high-entropy text or a documented placeholder that is not a secret. */
export function notASecret(random: SeededRandom): string {
  return random.pick([
    () => random.text(HEX, random.pick([32, 40, 56, 64, 96, 128])),
    () => [8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join("-"),
    () => `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA${random.text(BASE64, random.between(200, 2000))}=`,
    () => `sha512-${random.text(BASE64, 86)}==`,
    () => random.text(BASE64, random.between(20, 300)),
    () => random.text(BASE64URL, random.between(20, 300)),
    () => `${base64url(JSON.stringify({ page: random.between(1, 999), after: random.text(BASE62, 20) }))}`,
    () => random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 20),
    () => random.pick(PLACEHOLDERS),
  ])();
}

export { PLACEHOLDERS };

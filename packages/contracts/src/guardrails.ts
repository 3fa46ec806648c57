import { z } from "zod";
import { description, httpUrl, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

/** Every surface a guardrail can inspect; the guide says which of them calls pass through today. */
export const GUARDRAIL_SURFACES = [
  "chat_input",
  "chat_output",
  "embeddings_input",
  "image_gen_input",
  "image_gen_output",
  "audio_tts_input",
  "audio_tts_output",
  "audio_stt_input",
  "audio_stt_output",
  "video_gen_input",
  "video_gen_output",
  "batch_input",
  "batch_output",
  "moderation_input",
  "mcp_input",
  "mcp_output",
  "mcp_registration",
  "skill_input",
  "skill_output",
  "a2a_inbound",
  "a2a_outbound",
] as const;
export type GuardrailSurface = (typeof GUARDRAIL_SURFACES)[number];

/** No call passes through this surface yet. */
const NOT_SERVED = "audio_tts_output";

/** The surfaces calls pass through today. */
export const SERVED_SURFACES = GUARDRAIL_SURFACES.filter(
  (surface): surface is Exclude<GuardrailSurface, typeof NOT_SERVED> => surface !== NOT_SERVED,
);

/** Looked for if a configuration names no categories. */
export const DEFAULT_PII_CATEGORIES = ["email", "phone", "credit_card", "ssn", "iban"] as const;
export const PII_CATEGORIES = [
  ...DEFAULT_PII_CATEGORIES,
  "uk_nino",
  "uk_nhs",
  "de_tax_id",
  "fr_nir",
  "es_dni",
  "it_codice_fiscale",
  "pl_pesel",
  "nl_bsn",
  "be_national_number",
  "se_personnummer",
  "fi_hetu",
  "pt_nif",
  "at_svnr",
  "ch_ahv",
  "us_itin",
  "us_mbi",
  "us_npi",
  "us_dea",
  "us_routing_number",
  "ca_sin",
  "mx_curp",
  "br_cpf",
  "br_cnpj",
  "in_aadhaar",
  "in_pan",
  "au_tfn",
  "au_medicare",
  "au_abn",
  "sg_nric",
  "jp_my_number",
  "kr_rrn",
  "cn_resident_id",
  "passport",
  "driver_license",
  "date_of_birth",
  "eu_vat",
  "vin",
  "ip_address",
  "mac_address",
  "url_credentials",
  "crypto_wallet",
  "swift_bic",
] as const;
export const SECRET_CATEGORIES = [
  "aws_access_key",
  "github_token",
  "openai_key",
  "jwt",
  "private_key_pem",
  "anthropic_key",
  "google_key",
  "slack_token",
  "stripe_key",
  "gitlab_token",
  "npm_token",
  "pypi_token",
  "gateway_key",
] as const;
export const GUARDRAIL_ENGINES = [
  "openai_moderation",
  "guard_model",
  "bedrock_guardrails",
  "azure_content_safety",
  "presidio",
  "webhook",
] as const;

const surfaceName = z.enum(GUARDRAIL_SURFACES);
const action = z.enum(["block", "redact", "warn"]);
const score = z.number().min(0).max(1);

const surfaces = z
  .strictObject(
    Object.fromEntries(GUARDRAIL_SURFACES.map((name) => [name, z.boolean().optional()])) as Record<
      GuardrailSurface,
      z.ZodOptional<z.ZodBoolean>
    >,
  )
  .meta({ id: "GuardrailSurfaces" });
const on = (about: string) => z.boolean().optional().describe(about);
const acts = (fallback: string) => action.optional().describe(`default: ${fallback}`);
const only = z.array(surfaceName).max(GUARDRAIL_SURFACES.length).optional().describe("of the surfaces switched on; default: all of them");
const threshold = score.optional().describe("findings with a lower score are ignored; default: 0.5");

const builtin = z
  .strictObject({
    prompt_injection_enabled: on("known ways to override instructions; see the guide for what it finds and misses"),
    prompt_injection_action: acts("block"),
    prompt_injection_threshold: threshold,
    prompt_injection_surfaces: only,
    jailbreak_enabled: on("known jailbreak personas and phrases"),
    jailbreak_action: acts("warn"),
    jailbreak_threshold: threshold,
    jailbreak_surfaces: only,
    pii_enabled: on("personal data"),
    pii_action: acts("redact"),
    pii_provider: z.literal("built_in").optional(),
    pii_categories: z
      .array(z.enum(PII_CATEGORIES))
      .min(1)
      .max(PII_CATEGORIES.length)
      .optional()
      .describe("default: email, phone, credit_card, ssn and iban"),
    pii_restore: on(
      "in requests to models, redact as numbered placeholders such as [EMAIL_1], and put the values back into the answer; default: false",
    ),
    pii_threshold: threshold,
    pii_surfaces: only,
    toxic_content_enabled: on("threats, hate and insults by known phrases"),
    toxic_content_action: acts("block"),
    toxic_content_threshold: threshold,
    toxic_content_surfaces: only,
    secrets_enabled: on("credentials"),
    secrets_action: acts("block"),
    secrets_categories: z.array(z.enum(SECRET_CATEGORIES)).min(1).max(SECRET_CATEGORIES.length).optional().describe("default: all"),
    secrets_surfaces: only,
    banned_words: z.array(z.string().trim().min(1).max(90)).max(50_000).optional().describe("whole words or phrases, in any case"),
    banned_words_action: acts("block"),
    banned_words_surfaces: only,
    banned_patterns: z
      .array(z.string().min(1).max(1000))
      .max(200)
      .optional()
      .describe("regular expressions of RE2: no look-around, no back references"),
    banned_patterns_action: acts("block"),
    banned_patterns_surfaces: only,
  })
  .meta({ id: "GuardrailBuiltin" });

const engineRead = {
  provider: z.enum(GUARDRAIL_ENGINES),
  enabled: z.boolean().optional().describe("default: true"),
  endpoint: httpUrl
    .nullable()
    .optional()
    .describe("required for azure_content_safety, bedrock_guardrails, presidio and webhook; otherwise the vendor's; guard_model has none"),
  action: action.optional().describe("default: block; redact only for presidio, which reports where values are"),
  surfaces: only,
  threshold: score.optional().describe("score from which an engine's finding counts; default: 0.5"),
  timeout_ms: z.number().int().min(50).max(60_000).optional().describe("longest wait for its verdict; default: 3000"),
  on_failure: z
    .enum(["block", "allow"])
    .optional()
    .describe("what happens if an engine fails or times out; default: allow if the action is warn, otherwise block"),
  model: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .optional()
    .describe("for openai_moderation: the moderation model; for guard_model: name of a model of this gateway"),
  identifier: z
    .string()
    .regex(/^[A-Za-z0-9:/_.-]{1,500}$/)
    .nullable()
    .optional()
    .describe("for bedrock_guardrails: the guardrail's ID"),
  version: z
    .string()
    .regex(/^[A-Za-z0-9]{1,20}$/)
    .nullable()
    .optional()
    .describe("for bedrock_guardrails; default: DRAFT"),
  entities: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/))
    .min(1)
    .max(100)
    .optional()
    .describe("for presidio: the entities to look for, such as PERSON; default: all that it knows"),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/)
    .optional()
    .describe("for presidio: the language of the texts; default: en"),
} as const;

/** Visible ASCII, which is all a header can carry. */
const engineKey = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "must be visible ASCII without spaces");

const engineWritten = z
  .strictObject({
    ...engineRead,
    api_key: engineKey.nullable().optional().describe("write-only; if missing, the stored key for the same provider and endpoint stays"),
    has_api_key: z.boolean().optional().describe("as it was read; it says nothing that could be changed"),
  })
  .superRefine((engine, context) => {
    const must = (field: "endpoint" | "model" | "identifier", is: boolean) => {
      if (is && engine[field] == null) context.addIssue({ code: "custom", path: [field], message: `is required of ${engine.provider}` });
    };
    must("endpoint", ["azure_content_safety", "bedrock_guardrails", "presidio", "webhook"].includes(engine.provider));
    if (engine.action === "redact" && engine.provider !== "presidio")
      context.addIssue({
        code: "custom",
        path: ["action"],
        message: `cannot be redact for ${engine.provider}, which does not say where values are`,
      });
    for (const field of ["entities", "language"] as const)
      if (engine[field] !== undefined && engine.provider !== "presidio")
        context.addIssue({ code: "custom", path: [field], message: `is unknown to ${engine.provider}` });
    must("model", engine.provider === "guard_model");
    must("identifier", engine.provider === "bedrock_guardrails");
  })
  .meta({ id: "GuardrailEngineWritten" });

const engine = z.strictObject({ ...engineRead, has_api_key: z.boolean() }).meta({ id: "GuardrailEngine" });

const written = {
  description: description.optional(),
  enabled: z.boolean().optional().describe("default: true"),
  group_ids: z
    .array(recordId)
    .max(1000)
    .nullable()
    .optional()
    .describe("groups to which it applies, with those below them; null or missing: every group"),
  surfaces: surfaces.optional().describe("default: every surface; if given, surfaces that are not named are off"),
  builtin: builtin.optional(),
  providers: z.array(engineWritten).max(10).optional().describe("further engines"),
};

export const guardrailConfigCreate = z.strictObject({ name: recordName, ...written }).meta({ id: "GuardrailConfigCreate" });
export const guardrailConfigUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "GuardrailConfigUpdate" });

export const guardrailConfig = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    group_ids: z.array(recordId).nullable(),
    surfaces: z.record(surfaceName, z.boolean()),
    builtin,
    providers: z.array(engine),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "GuardrailConfig" });

export const guardrailConfigQuery = z.strictObject({ ...pageQuery.shape, search });

export const guardrailTrial = z
  .strictObject({ text: z.string().max(200_000), surface: surfaceName.optional().describe("default: chat_input") })
  .meta({ id: "GuardrailTrial" });

export const guardrailTrialResult = z
  .strictObject({
    action: z.enum(["none", "warn", "redact", "block"]).describe("what would happen to a call with this text"),
    text: z.string().nullable().describe("the text as it would be passed on; null if it would not"),
    findings: z.array(
      z.strictObject({
        check: z.string(),
        category: z.string(),
        action,
        start: z.number().int().describe("where the finding starts, in UTF-16 units"),
        end: z.number().int(),
        score: z.number(),
      }),
    ),
    engines: z.array(z.string()).describe("engines of the configuration, which are not asked in a trial"),
  })
  .meta({ id: "GuardrailTrialResult" });

export type GuardrailBuiltin = z.output<typeof builtin>;
export type GuardrailEngine = z.output<typeof engine>;
export type GuardrailEngineWritten = z.output<typeof engineWritten>;
export type GuardrailConfig = z.output<typeof guardrailConfig>;
export type GuardrailConfigCreate = z.output<typeof guardrailConfigCreate>;
export type GuardrailConfigUpdate = z.output<typeof guardrailConfigUpdate>;
export type GuardrailConfigQuery = z.output<typeof guardrailConfigQuery>;
export type GuardrailTrialResult = z.output<typeof guardrailTrialResult>;

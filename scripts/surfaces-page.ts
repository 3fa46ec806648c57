import { providerDrivers } from "../server/drivers.ts";
import { systemClock } from "../server/kernel/clock.ts";
import { outbound } from "../server/runtime/outbound.ts";
import type { ConversationFormat } from "../server/wire/conversation/codec.ts";
import type { ProviderOperation } from "../server/wire/operation.ts";
import { CELLS, CLIENTS, FEATURES, PROVIDERS, REASONING, SURFACES, type SurfaceName } from "../tests/support/vendors/matrix.ts";

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

const PATHS: Readonly<Record<SurfaceName, string>> = {
  chat: "/v1/proxy/llm/chat/completions",
  responses: "/v1/proxy/llm/responses",
  completions: "/v1/proxy/llm/completions",
  messages: "/v1/messages",
  gemini: "/v1beta/models/{model}:generateContent",
};

/** Display names of formats that differ from their identifiers. */
const FORMAT_NAMES: Readonly<Partial<Record<ConversationFormat, string>>> = { gemini: "Gemini", converse: "Converse" };
const nameOf = (format: ConversationFormat): string => FORMAT_NAMES[format] ?? format;

// Nothing is sent; the drivers are only asked about their formats.
const SERVED = providerDrivers(outbound({ allowPrivate: false }), systemClock());

function way({ apiFormat, modelName, modes }: (typeof PROVIDERS)[number], surface: SurfaceName): string {
  const { format } = SERVED[apiFormat].traits.codecFor({ modelName, modes, provider: { baseUrl: "" } }, surface);
  return format === surface ? "passes" : `as ${nameOf(format)}`;
}

function waysTable(table: Table): string {
  const rows = PROVIDERS.map((provider) => {
    const { traits } = SERVED[provider.apiFormat];
    const { embeddings } = traits;
    const count = (operation: ProviderOperation) =>
      traits.counts({ ...provider, provider: { baseUrl: "" } }, operation) ? "passes" : "estimate";
    return [
      provider.about,
      ...SURFACES.map((surface) => way(provider, surface)),
      typeof embeddings === "string" ? embeddings : "translated",
      count("count_tokens"),
      count("gemini_count"),
    ];
  });
  return table(["model's provider", ...SURFACES.map(nameOf), "embeddings", "count_tokens", "countTokens"], rows);
}

const PROVED = { text: "text", tools: "tools", structured: "structured output", picture: "images" } as const;

/** In which forms the clients' tests prove the feature. */
function proof(surface: SurfaceName, provider: string, feature: string): string {
  const clients = new Set<string>(CLIENTS.filter((client) => client.surface === surface).map(({ id }) => id));
  const cells = CELLS.filter((cell) => clients.has(cell.client) && cell.provider === provider && cell.feature === feature);
  const forms = [cells.some(({ stream }) => !stream) ? "whole" : "", cells.some(({ stream }) => stream) ? "stream" : ""].filter(
    (form) => form !== "",
  );
  return forms.length === 0 ? "–" : forms.join(", ");
}

function reasoningProof(surface: SurfaceName, provider: string): string {
  return (REASONING.surfaces as readonly string[]).includes(surface) && (REASONING.providers as readonly string[]).includes(provider)
    ? "whole, stream"
    : "–";
}

function proofTable(surface: SurfaceName, table: Table): string {
  const rows = PROVIDERS.map(({ id, about }) => [
    about,
    ...FEATURES.map((feature) => proof(surface, id, feature)),
    reasoningProof(surface, id),
  ]);
  const packages = [
    ...new Set(
      CLIENTS.filter((client) => client.surface === surface).map((client) => client.packages.map((name) => `\`${name}\``).join(" with ")),
    ),
  ];
  return (
    `### \`${PATHS[surface]}\`\n\nClients: ${packages.join(", ")}.\n\n` +
    `${table(["model's provider", ...FEATURES.map((feature) => PROVED[feature]), "reasoning shown"], rows)}`
  );
}

/** Which surface reaches which provider, and which features the official clients' tests prove. */
export function surfacesPage(note: string, table: Table): string {
  return `# Surfaces and providers

${note}

## How a call reaches the provider

*passes*: the caller's bytes go to the provider unchanged, except for what governance changed, and the answer's bytes come back. *as X*: translated into the format X and back; [the lists](translation.md) say what is dropped or refused. *estimate*: estimated by the gateway, as the answer says in \`x-gw-token-count\`.

${waysTable(table)}

Models of OpenAI-compatible servers are called according to their modes: \`responses\` and \`completion\` pass if the model has that mode, and are translated otherwise.

## What is proved

Each cell is run by the test suite with the vendor's own client, unchanged but for base URL and key, against an independent fake of the provider. *whole*: one answer; *stream*: streamed. \`–\`: not available in the format or at the provider, or not tested. In addition, each translation pair has fixtures of the vendors' own bytes, and translated calls are compared with those of another gateway; every difference has its reason in \`tests/differential/explained.ts\`.

${SURFACES.map((surface) => proofTable(surface, table)).join("\n\n")}
`;
}

import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { Clock } from "./kernel/clock.ts";
import type { Configuration } from "./kernel/configuration/configuration.ts";
import { goesByProxy } from "./runtime/by-proxy.ts";
import { type Outbound, outbound } from "./runtime/outbound.ts";
import { type OutboundSockets, outboundSockets } from "./runtime/outbound-socket.ts";
import { azureContentSafety } from "./upstreams/guardrail-engines/azure-content-safety.ts";
import { bedrockGuardrails } from "./upstreams/guardrail-engines/bedrock-guardrails.ts";
import { openaiModeration } from "./upstreams/guardrail-engines/openai-moderation.ts";
import { presidio } from "./upstreams/guardrail-engines/presidio.ts";
import { webhookEngine } from "./upstreams/guardrail-engines/webhook.ts";
import { anthropicBatches } from "./upstreams/providers/anthropic/anthropic-batches.ts";
import { anthropicProvider } from "./upstreams/providers/anthropic/anthropic.ts";
import { azureOpenaiProvider } from "./upstreams/providers/azure-openai/azure-openai.ts";
import { azureSpeechProvider } from "./upstreams/providers/azure-speech/azure-speech.ts";
import { bedrockBatches } from "./upstreams/providers/bedrock/bedrock-batches.ts";
import { bedrockProvider } from "./upstreams/providers/bedrock/bedrock.ts";
import { echoProvider } from "./upstreams/providers/echo/echo.ts";
import { geminiBatches } from "./upstreams/providers/gemini/gemini-batches.ts";
import { geminiProvider } from "./upstreams/providers/gemini/gemini.ts";
import { openaiBatches } from "./upstreams/providers/openai/openai-batches.ts";
import { openaiProvider } from "./upstreams/providers/openai/openai.ts";
import type { Provider } from "./upstreams/providers/provider.ts";
import type { ProviderBatches } from "./upstreams/providers/provider-batches.ts";
import { anthropicUsage } from "./upstreams/usage/anthropic-usage.ts";
import { awsUsage } from "./upstreams/usage/aws-usage.ts";
import { azureUsage } from "./upstreams/usage/azure-usage.ts";
import { googleUsage } from "./upstreams/usage/google-usage.ts";
import { openaiUsage } from "./upstreams/usage/openai-usage.ts";
import type { UsageVendors } from "./services/usage-import/usage-vendors.ts";
import { vertexBatches } from "./upstreams/providers/vertex/vertex-batches.ts";
import { vertexProvider } from "./upstreams/providers/vertex/vertex.ts";

/** All clients for outbound connections. */
export function upstreamOf(config: Configuration, clock: Clock) {
  const isLeftToProxy = leftToProxy(config);
  const out = outbound({ allowPrivate: config.allowPrivateUpstreams, isLeftToProxy });
  return {
    clock,
    outbound: out,
    // Callers choose these URLs and see the content. Private addresses are allowed only for URLs set by an administrator.
    media: outbound({ allowPrivate: false, isLeftToProxy }),
    isLeftToProxy,
    providers: providerDrivers(out, clock, outboundSockets({ allowPrivate: config.allowPrivateUpstreams })),
    batches: batchDrivers(out, clock),
  };
}

/** Tells which hosts are resolved and checked by a proxy instead of the gateway. */
function leftToProxy({ proxyRefusesPrivate }: Configuration): (to: URL) => boolean {
  return (to) => proxyRefusesPrivate && goesByProxy(to);
}

/** One driver for each format that a provider's record may name. */
export function providerDrivers(out: Outbound, clock: Clock, sockets?: OutboundSockets) {
  return {
    openai: openaiProvider(out, sockets),
    azure_openai: azureOpenaiProvider(out),
    azure_speech: azureSpeechProvider(out),
    anthropic: anthropicProvider(out),
    gemini: geminiProvider(out),
    vertex: vertexProvider(out, clock),
    bedrock: bedrockProvider(out, clock),
    echo: echoProvider(clock),
  } satisfies Record<ApiFormat, Provider>;
}

/** The providers' own batch APIs, for each format whose record may declare support for them. */
export function batchDrivers(out: Outbound, clock: Clock): Partial<Record<ApiFormat, ProviderBatches>> {
  return {
    openai: openaiBatches(out),
    anthropic: anthropicBatches(out),
    gemini: geminiBatches(out),
    bedrock: bedrockBatches(out, clock),
    vertex: vertexBatches(out, clock),
  };
}

/** Vendors that usage and cost can be imported from. */
export function usageVendors(out: Outbound, clock: Clock): UsageVendors {
  return {
    openai: openaiUsage(out),
    anthropic: anthropicUsage(out),
    google: googleUsage(out, clock),
    azure: azureUsage(out),
    aws: awsUsage(out, clock),
  };
}

/** External engines that guardrail configurations may name in addition to the built-in checks. */
export function guardrailEngines(out: Outbound, clock: Clock) {
  return {
    openai_moderation: openaiModeration(out),
    azure_content_safety: azureContentSafety(out),
    bedrock_guardrails: bedrockGuardrails(out, clock),
    presidio: presidio(out),
    webhook: webhookEngine(out),
  };
}

import type { TryScript } from "../../services/tools/skills/try-script.ts";
import type { GitBundles } from "../../directory/skills/bundled-skill.ts";
import type { LearningTerms } from "../../directory/assurance/baselines.ts";
import type { Logins } from "../../directory/people/logins.ts";
import type { RefusedAttempts } from "../../directory/people/refused-attempts.ts";
import type { WelcomeMailer } from "../../directory/people/welcome-mail.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { AgentsAsServed } from "../../services/agents/agents-as-served.ts";
import type { CardDiscovery } from "../../services/agents/discover-card.ts";
import type { PolicyBench } from "../../controls/semantic-policies/policy-bench.ts";
import type { SearchBench } from "../../services/knowledge/search-bench.ts";
import type { SignOn } from "../../services/sign-on/sign-on.ts";
import type { probe } from "../../services/models/routing/probe.ts";
import type { TryImport } from "../../services/usage-import/try-import.ts";
import type { GiveUpTokens } from "../../services/tools/authorization/give-up-tokens.ts";
import type { ToolServerDiscovery } from "../../services/tools/definitions/discovery.ts";
import type { Log } from "../../kernel/log.ts";

export type HealthHandler = (request: Request) => Response | Promise<Response>;

/** How far a live writer's chain has been shipped to the database, according to the writer. */
export interface LiveChain {
  readonly chainId: string;
  readonly shippedSeq: number;
  readonly shippedHash: string;
}

/** Dependencies of the control plane's operations. */
export interface AdminServices {
  readonly directory: Directory;
  readonly logins: Logins;
  readonly signOn: SignOn;
  /** Address of the control plane as browsers know it; null to use that of each request. */
  readonly adminPublicUrl: string | null;
  /** Resolves to false if no mail is sent. */
  readonly welcome: WelcomeMailer;
  /** Outbound access to providers, for probes. */
  readonly upstream: Parameters<typeof probe>[1];
  /** Outbound access to tool servers, for discovery. */
  readonly toolServers: ToolServerDiscovery;
  /** Revokes tokens at their issuer. */
  readonly giveUpTokens: GiveUpTokens;
  /** Fetches agents' cards. */
  readonly agentCards: CardDiscovery;
  readonly agentsAsServed: AgentsAsServed;
  /** Reads repositories uploaded as one file; returns a reason if it is none or cannot be read. */
  readonly gitBundles: GitBundles;
  readonly tryScript: TryScript;
  readonly searchKnowledge: SearchBench;
  /** Runs the judge of a semantic policy. */
  readonly tryPolicy: PolicyBench;
  /** Queries vendors' usage reports. */
  readonly tryImport: TryImport;
  /** Where clients reach the runtime plane. */
  readonly gatewayOrigins: readonly string[];
  /** The chain this process writes; null if it writes none. */
  readonly liveChain: () => LiveChain | null;
  /** Receives refused attempts for the admin log. */
  readonly attempts: RefusedAttempts;
  /** Called with the reason of every refusal. */
  readonly refused: (reason: string) => void;
  /** Called with every chain verification. */
  readonly verified: (verification: { readonly verdict: string; readonly unacknowledged: number }) => void;
  /** Handlers of paths outside the admin API: `/healthz`, `/readyz`, `/metrics`. */
  readonly health: Readonly<Record<string, HealthHandler>>;
  /** What an AI System needs before its baseline is frozen automatically. */
  readonly learning: LearningTerms;
  /** Signs certificates and checkpoints: an Ed25519 private key, PEM. */
  readonly signingKey: string;
  readonly log: Log;
  /** The OpenAPI document. */
  readonly document: () => object;
}

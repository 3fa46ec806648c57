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

/** How far the chain of a live writer is in the database, as the writer itself knows it. */
export interface LiveChain {
  readonly chainId: string;
  readonly shippedSeq: number;
  readonly shippedHash: string;
}

/** What the operations of the control plane work with. */
export interface AdminServices {
  readonly directory: Directory;
  readonly logins: Logins;
  readonly signOn: SignOn;
  /** Address of the control plane as browsers know it; null: the one each request came to. */
  readonly adminPublicUrl: string | null;
  /** False for everybody where no mail is sent. */
  readonly welcome: WelcomeMailer;
  /** The way to the providers, for probes. */
  readonly upstream: Parameters<typeof probe>[1];
  /** The way to tool servers, for what they are and offer. */
  readonly toolServers: ToolServerDiscovery;
  /** Tells an issuer that tokens are given up. */
  readonly giveUpTokens: GiveUpTokens;
  /** Looks for agents' cards. */
  readonly agentCards: CardDiscovery;
  readonly agentsAsServed: AgentsAsServed;
  /** Reads repositories that are sent as one file; a reason where it is none, or cannot be read. */
  readonly gitBundles: GitBundles;
  readonly tryScript: TryScript;
  readonly searchKnowledge: SearchBench;
  /** Asks the judge of a semantic policy. */
  readonly tryPolicy: PolicyBench;
  /** Asks vendors for what was used. */
  readonly tryImport: TryImport;
  /** Where clients reach the runtime plane. */
  readonly gatewayOrigins: readonly string[];
  /** The chain this process writes; null when it writes none. */
  readonly liveChain: () => LiveChain | null;
  /** Where refused attempts go that the admin log tells of. */
  readonly attempts: RefusedAttempts;
  /** Told the reason of every refusal. */
  readonly refused: (reason: string) => void;
  /** Told of every verdict over a chain. */
  readonly verified: (verification: { readonly verdict: string; readonly unacknowledged: number }) => void;
  /** Answers of paths that are not the control plane's own: `/healthz`, `/readyz`, `/metrics`. */
  readonly health: Readonly<Record<string, HealthHandler>>;
  /** What an AI System has to show before its baseline is frozen by itself. */
  readonly learning: LearningTerms;
  /** Signs certificates, as it does checkpoints: an Ed25519 private key, PEM. */
  readonly signingKey: string;
  readonly log: Log;
  /** The OpenAPI document. */
  readonly document: () => object;
}

import type { AuditChains, AuditKeys, ChainVerification, VerifyRange } from "@gatehouse/contracts/audit-chains";
import type { ProxyLogPage, ProxyLogQuery } from "@gatehouse/contracts/proxy-logs";

/** What the control plane reads of the ledger. */
export interface LedgerReads {
  /** A null tenant means the rows of all tenants and of none. Without `bodies` the previews are null. */
  queryRows(query: ProxyLogQuery & { readonly tenant_id: string | null }, options: { readonly bodies: boolean }): Promise<ProxyLogPage>;
  listChains(): Promise<AuditChains["chains"]>;
  /** Undefined for a chain that is not there. */
  verifyChain(chainId: string, range: VerifyRange): Promise<ChainVerification | undefined>;
  /** JSON lines without their line feeds, which the offline verifier reads; undefined for a chain that is not there. */
  exportChain(chainId: string): Promise<AsyncIterable<string> | undefined>;
  listKeys(): Promise<AuditKeys["keys"]>;
}

import type { Call } from "../call.ts";

/** Large enough for the largest single request to fit into its tenant's half. */
const MIN = 256 * 1024 * 1024;

/**
 * Bounds the memory for files that are inlined into request bodies, so that short requests for large files cannot exhaust it. One tenant
 * may hold at most half of it.
 */
export class FileRoom {
  private readonly ofTenants = new Map<string | null, number>();
  private readonly ofCalls = new Map<Call, number>();
  private readonly mostBytes: number;
  private heldInAll = 0;

  constructor(mostBytes = MIN) {
    this.mostBytes = Math.max(mostBytes, MIN);
  }

  /** Reserves `size` more bytes until the call has ended; false if there is no room. */
  hold(call: Call, size: number): boolean {
    const tenantId = call.identity?.tenantId ?? null;
    const ofTenant = this.ofTenants.get(tenantId) ?? 0;
    if (ofTenant + size > this.mostBytes / 2 || this.heldInAll + size > this.mostBytes) return false;
    this.ofTenants.set(tenantId, ofTenant + size);
    this.heldInAll += size;
    const ofCall = this.ofCalls.get(call);
    if (ofCall === undefined) call.whenEnded.push(() => this.release(call));
    this.ofCalls.set(call, (ofCall ?? 0) + size);
    return true;
  }

  /** Releases everything the call holds, after a failed attempt or at its end. */
  release(call: Call): void {
    const tenantId = call.identity?.tenantId ?? null;
    const size = this.ofCalls.get(call) ?? 0;
    this.ofCalls.delete(call);
    this.heldInAll -= size;
    const left = (this.ofTenants.get(tenantId) ?? size) - size;
    if (left === 0) this.ofTenants.delete(tenantId);
    else this.ofTenants.set(tenantId, left);
  }
}

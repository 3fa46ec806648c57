import type { Call } from "../../road/call.ts";
import { callerOf } from "./caller.ts";

/** What files of the store may hold of memory in requests under way, so that short requests for large files stop nobody else. */
const MOST_AT_ONCE = 256 * 1024 * 1024;
const MOST_OF_A_TENANT = 128 * 1024 * 1024;

/** Room in memory for stored files that requests name. */
export class FileRoom {
  private readonly held = new Map<string, number>();
  private heldInAll = 0;

  /** Holds so many bytes until the call has ended; false where there is no room for them. */
  hold(call: Call, size: number): boolean {
    const { tenantId } = callerOf(call).owner;
    const ofTenant = this.held.get(tenantId) ?? 0;
    if (ofTenant + size > MOST_OF_A_TENANT || this.heldInAll + size > MOST_AT_ONCE) return false;
    this.held.set(tenantId, ofTenant + size);
    this.heldInAll += size;
    call.whenEnded.push(() => {
      this.heldInAll -= size;
      const left = (this.held.get(tenantId) ?? size) - size;
      if (left === 0) this.held.delete(tenantId);
      else this.held.set(tenantId, left);
    });
    return true;
  }
}

import type { RoutingMember } from "../../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { RefusedFor } from "../../../wire/refused-for.ts";
import type { MemberHealth } from "./member-health.ts";

const AFTER_FAILURES: NonNullable<RoutingMember["fallbackOn"]> = ["failure"];

/** The members that may serve one call, and which of them may still be asked after what the others answered. */
export class CallMembers {
  /** All members that may serve the call. */
  readonly members: readonly RoutingMember[];
  readonly tried = new Set<ModelEntry>();
  /** Those of them that may not be tried again. */
  readonly spent = new Set<ModelEntry>();
  private readonly health: MemberHealth;
  private readonly beginners: ReadonlySet<RoutingMember>;
  private readonly grounds = new Set<RefusedFor>();
  /** The largest context window that is known to be too small. */
  private outgrown = 0;

  constructor(members: readonly RoutingMember[], health: MemberHealth) {
    this.members = members;
    this.health = health;
    // If a call can go to no others, the members that only take over refused requests serve it.
    const beginners = members.filter((member) => member.weight > 0 || takesOver(member, "failure"));
    this.beginners = new Set(beginners.length > 0 ? beginners : members);
  }

  /** The request was refused by a member, or is known to be too long for it. */
  refused(model: ModelEntry, ground: RefusedFor): void {
    this.spent.add(model);
    this.grounds.add(ground);
    this.outgrown = this.outgrownBy(model, ground);
  }

  /** The members that may be asked next, if they are healthy. */
  left(): RoutingMember[] {
    return this.members.filter((member) => {
      if (this.spent.has(member.model)) return false;
      if (this.grounds.size > 0) return isFor(member, this.grounds, this.outgrown);
      if (this.tried.size === 0) return this.beginners.has(member);
      return this.tried.has(member.model) || takesOver(member, "failure");
    });
  }

  /** Whether another member could be asked now if this one refuses the request. */
  hasOtherFor(model: ModelEntry, ground: RefusedFor): boolean {
    return this.members.some(
      (other) =>
        other.model !== model &&
        takesOver(other, ground) &&
        !this.spent.has(other.model) &&
        isFor(other, this.grounds, this.outgrownBy(model, ground)) &&
        this.health.available(other.model.id),
    );
  }

  private outgrownBy({ contextWindow }: ModelEntry, ground: RefusedFor): number {
    return ground === "context_window" ? Math.max(this.outgrown, contextWindow ?? 0) : this.outgrown;
  }
}

function takesOver({ fallbackOn = AFTER_FAILURES }: RoutingMember, ground: RefusedFor | "failure"): boolean {
  return fallbackOn.includes(ground);
}

function isFor(member: RoutingMember, grounds: ReadonlySet<RefusedFor>, outgrown: number): boolean {
  return [...grounds].every((ground) => takesOver(member, ground)) && (member.model.contextWindow ?? Number.POSITIVE_INFINITY) > outgrown;
}

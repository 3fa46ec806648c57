import { fieldsOf, type Fields, merge, NOTHING } from "./merge.ts";
import type { Quota } from "./quotas.ts";
import type { PolicyDocument, PolicyKind } from "./rules.ts";

export interface GroupNode {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  /** How many branches have been moved away from it; none if omitted. */
  readonly branchesLeft?: number;
}

export interface StoredPolicy {
  readonly groupId: string;
  readonly kind: PolicyKind;
  /** The model, server or skill it refines; '' for the group's own document. */
  readonly itemId: string;
  readonly document: PolicyDocument;
}

const keyOf = (groupId: string, kind: PolicyKind, itemId: string): string => `${groupId} ${kind} ${itemId}`;

/**
 * A snapshot of a tenant's groups with their documents. Results are computed on first use and cached, parents before
 * children, so that a thousand groups cost a thousand merges rather than a thousand walks to the root.
 */
export class PolicyTree {
  private readonly nodes: ReadonlyMap<string, GroupNode>;
  private readonly own = new Map<string, Fields>();
  private readonly items = new Map<string, Set<string>>();
  private readonly refined = new Map<string, string[]>();
  private readonly merged = new Map<string, Fields>();
  private children: Map<string, GroupNode[]> | null = null;

  constructor(groups: readonly GroupNode[], policies: readonly StoredPolicy[]) {
    this.nodes = new Map(groups.map((group) => [group.id, group]));
    for (const { groupId, kind, itemId, document } of policies) {
      const fields = fieldsOf(document);
      if (fields.size === 0) continue;
      this.own.set(keyOf(groupId, kind, itemId), fields);
      if (itemId === "") continue;
      const known = this.items.get(kind);
      if (known === undefined) this.items.set(kind, new Set([itemId]));
      else known.add(itemId);
      const here = `${groupId} ${kind}`;
      this.refined.set(here, [...(this.refined.get(here) ?? []), itemId]);
    }
  }

  groupIds(): Iterable<string> {
    return this.nodes.keys();
  }

  node(id: string): GroupNode | undefined {
    return this.nodes.get(id);
  }

  /** Versions the counters of a group's branch. It changes when a branch moves away, because that branch's usage goes with it. */
  epochOf(groupId: string): number {
    return this.nodes.get(groupId)?.branchesLeft ?? 0;
  }

  isAtOrBelow(groupId: string, aboveId: string): boolean {
    for (let id: string | null = groupId; id !== null; id = this.nodes.get(id)?.parentId ?? null) if (id === aboveId) return true;
    return false;
  }

  get groups(): IterableIterator<GroupNode> {
    return this.nodes.values();
  }

  ownFields(groupId: string, kind: PolicyKind, itemId = ""): Fields {
    return this.own.get(keyOf(groupId, kind, itemId)) ?? NOTHING;
  }

  /** The items of a kind that any group refines. */
  itemsOf(kind: PolicyKind): ReadonlySet<string> {
    return this.items.get(kind) ?? new Set();
  }

  /** The items of a kind that the group itself refines. */
  refinedAt(groupId: string, kind: PolicyKind): readonly string[] {
    return this.refined.get(`${groupId} ${kind}`) ?? [];
  }

  /** What applies before the group's own document: that of its ancestors, and for an item also the group's document for all items. */
  inherited(groupId: string, kind: PolicyKind, itemId = ""): Fields {
    const parentId = this.nodes.get(groupId)?.parentId ?? null;
    if (itemId === "") return parentId === null ? NOTHING : this.effective(parentId, kind);
    const above = parentId === null || !this.isRefined(parentId, kind, itemId) ? NOTHING : this.effective(parentId, kind, itemId);
    return merge(this.effective(groupId, kind), above);
  }

  effective(groupId: string, kind: PolicyKind, itemId = ""): Fields {
    const key = keyOf(groupId, kind, itemId);
    let found = this.merged.get(key);
    if (found === undefined) {
      found =
        itemId !== "" && !this.isRefined(groupId, kind, itemId)
          ? this.effective(groupId, kind)
          : merge(this.inherited(groupId, kind, itemId), this.ownFields(groupId, kind, itemId));
      this.merged.set(key, found);
    }
    return found;
  }

  /** Whether the group or an ancestor refines the item. */
  private isRefined(groupId: string, kind: PolicyKind, itemId: string): boolean {
    if (!this.itemsOf(kind).has(itemId)) return false;
    for (let id: string | null = groupId; id !== null; id = this.nodes.get(id)?.parentId ?? null)
      if (this.own.has(keyOf(id, kind, itemId))) return true;
    return false;
  }

  /**
   * Yields the groups of a branch, parents first, with the fields in force: under "" for all items, and for each item
   * refined there or above. Groups without own values share their parent's map. Keeps only what later groups need, so that
   * thousands of groups with hundreds of refined items can be traversed.
   */
  *inForce(groupId: string, kind: PolicyKind): Generator<{ readonly node: GroupNode; readonly fields: ReadonlyMap<string, Fields> }> {
    const start = this.nodes.get(groupId);
    if (start === undefined) return;
    const above = new Map<string, Fields>([["", this.inherited(groupId, kind)]]);
    const chain = this.above(groupId);
    for (const { id } of chain)
      for (const item of this.refinedAt(id, kind))
        if (!above.has(item)) above.set(item, this.effective((chain[0] as GroupNode).id, kind, item));
    const pending = [{ node: start, above: above as ReadonlyMap<string, Fields> }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { node } = next;
      const fields = this.underneath(next.above, node.id, kind);
      yield { node, fields };
      for (const child of this.childrenOf(node.id).toReversed()) pending.push({ node: child, above: fields });
    }
  }

  private underneath(above: ReadonlyMap<string, Fields>, groupId: string, kind: PolicyKind): ReadonlyMap<string, Fields> {
    const own = this.ownFields(groupId, kind);
    const refined = this.refinedAt(groupId, kind);
    if (own.size === 0 && refined.length === 0) return above;
    const ofAll = merge(above.get("") ?? NOTHING, own);
    const fields = new Map([["", ofAll]]);
    for (const item of new Set([...above.keys(), ...refined]))
      if (item !== "") fields.set(item, merge(merge(ofAll, above.get(item) ?? NOTHING), this.ownFields(groupId, kind, item)));
    return fields;
  }

  childrenOf(groupId: string): readonly GroupNode[] {
    if (this.children === null) {
      this.children = new Map();
      for (const node of this.nodes.values()) {
        if (node.parentId === null) continue;
        const siblings = this.children.get(node.parentId);
        if (siblings === undefined) this.children.set(node.parentId, [node]);
        else siblings.push(node);
      }
    }
    return this.children.get(groupId) ?? [];
  }

  /** The group and all below it. */
  branch(groupId: string): GroupNode[] {
    const node = this.nodes.get(groupId);
    if (node === undefined) return [];
    const found = [node];
    for (let i = 0; i < found.length; i++) found.push(...this.childrenOf((found[i] as GroupNode).id));
    return found;
  }

  /** The ancestors, nearest first. */
  above(groupId: string): GroupNode[] {
    const found: GroupNode[] = [];
    for (let id = this.nodes.get(groupId)?.parentId ?? null; id !== null;) {
      const node = this.nodes.get(id);
      if (node === undefined) break;
      found.push(node);
      id = node.parentId;
    }
    return found;
  }

  /** The nearest ancestor that sets the quota. */
  holderOf(groupId: string, quota: Quota): GroupNode | undefined {
    return this.above(groupId).find((node) => this.ownFields(node.id, "llm_limits").has(quota));
  }

  /** The groups that draw on a holder's quota: the nearest in each branch that set it. `without` excludes a branch. */
  drawers(holderId: string, quota: Quota, without?: string): { node: GroupNode; claim: number }[] {
    const found: { node: GroupNode; claim: number }[] = [];
    const pending = [...this.childrenOf(holderId)];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node.id === without) continue;
      const claim = this.ownFields(node.id, "llm_limits").get(quota);
      if (claim === undefined) pending.push(...this.childrenOf(node.id));
      else found.push({ node, claim: claim as number });
    }
    return found;
  }
}

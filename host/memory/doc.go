// Package memory implements a space: memories and logs on branches that can be forked, merged and
// read as of any moment.
//
// It stores everything through a store.Engine and makes everything findable through an Index; it holds no
// state that they could not restore, except counters of the last seconds.
//
// # The life of a write
//
// What a caller or a family writes is a Stage. Access.Store, Forget, SetState and Append make one each; a family makes its own with
// Access.Stage, and its calls of other tools write to that.
//
//  1. Check. The caller may write the namespace and the branch, and keys, values and sizes are within Limits. A memory without a key gets
//     one that is derived from its value.
//  2. Look up the request id. What the same request committed before is the answer, and nothing of what follows happens.
//  3. Stage. The present versions are read, and what would change is kept on the stage, with the versions that its commit expects: of a
//     blind stage only those that the caller names and those that a change depends on, of others all that were read. What is equal to the
//     present version is not staged.
//  4. Ask the hooks, in Stage.commit and nowhere else, without locks held. They refuse the write, change its values, or have it proposed
//     on a branch of its own; a vector goes with the value that it embeds. About a family's stage those are asked that may refuse. About
//     what a caller writes itself all are asked, before it is staged: about a store in any case, even of what is stored already.
//  5. Charge quotas: of the caller in a namespace, and of a family for its records. They are held until the commit ends. A dry run ends
//     here.
//  6. Commit. The engine looks up the request id again, compares the expected versions, and writes all or nothing. A deletion or a change
//     of state by a caller itself is staged again if its memory changed meanwhile; its hooks are not asked again.
//  7. Index. The write is searchable when its commit returns.
//  8. Receipts name what was replaced. A blind stage may have read a version older than the one that it replaced: receipts are corrected from
//     the version before the commit.
//
// Merge and Undo go other ways to the same commit. A merge brings versions that passed the hooks on their branch; what only its
// resolutions bring passes 4 and 5. An undo stages earlier versions, about which no hook is asked.
package memory

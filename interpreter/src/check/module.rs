//! Layers of a network that are no convolution, pooling or product.

use burn_ir::{AttentionOptionsIr, TensorIr};

use super::{ensure, rank, same_dtype, shaped, working_memory};
use crate::context::Outcome;

/// The statistics and the parameters of a normalization have an element for each channel of
/// `x`, `[batch, channels, …]`.
pub(crate) fn per_channel(x: &TensorIr, parameter: &TensorIr) -> Outcome {
    ensure(x.shape.rank() >= 2, || {
        let (id, shape) = (x.id, &x.shape);
        alloc::format!("{id} of shape {shape} has no channels")
    })?;
    same_dtype(x, parameter)?;
    shaped(parameter, &[x.shape[1]])
}

/// The vectors, `[batch, length, d_model]`, are rows of the weights, `[n_embeddings, d_model]`, one
/// for each index, `[batch, length]`.
pub(crate) fn embedded(weights: &TensorIr, indices: &TensorIr, vectors: &TensorIr) -> Outcome {
    rank(weights, 2)?;
    rank(indices, 2)?;
    let [batch, length] = [indices.shape[0], indices.shape[1]];
    shaped(vectors, &[batch, length, weights.shape[1]])
}

/// Queries `[batch, heads, length, d]` look at keys `[batch, heads, other length, d]` and take of
/// values `[batch, heads, other length, d_value]`. Each head of keys and values may serve several
/// heads of queries.
pub(crate) fn attended(
    query: &TensorIr,
    key: &TensorIr,
    value: &TensorIr,
    out: &TensorIr,
) -> Outcome {
    for tensor in [query, key, value] {
        rank(tensor, 4)?;
        same_dtype(query, tensor)?;
    }
    let [q, k, v] = [&query.shape, &key.shape, &value.shape];
    let grouped = k[1] == v[1] && (q[1] == k[1] || (k[1] > 0 && q[1].is_multiple_of(k[1])));
    let fits = q[0] == k[0] && k[0] == v[0] && grouped && q[3] == k[3] && k[2] == v[2];
    ensure(fits, || {
        alloc::format!("queries, keys and values do not fit: {q}, {k} and {v}")
    })?;
    let mut scores = [q[0], q[1], q[2], k[2]].into_iter();
    let scores = scores.try_fold(1_usize, usize::checked_mul);
    working_memory(query, scores)?;
    shaped(out, &[q[0], q[1], q[2], v[3]])
}

/// Where the scores are capped, the cap is positive.
pub(crate) fn capped(options: &AttentionOptionsIr) -> Outcome {
    let cap = options.softcap.map(|cap| cap.elem::<f64>());
    ensure(cap.is_none_or(|cap| cap > 0.0), || {
        alloc::format!("`softcap` must be positive: {cap:?}")
    })
}

/// The optional mask or bias has an element, or one for all, for each score of the attention.
pub(crate) fn per_score(query: &TensorIr, key: &TensorIr, scores: &Option<TensorIr>) -> Outcome {
    let Some(scores) = scores else {
        return Ok(());
    };
    rank(scores, 4)?;
    let [q, k] = [&query.shape, &key.shape];
    let full = [q[0], q[1], q[2], k[2]];
    let mut pairs = scores.shape.iter().zip(full);
    ensure(
        pairs.all(|(size, full)| *size == full || *size == 1),
        || {
            let (id, shape) = (scores.id, &scores.shape);
            alloc::format!("{id} of shape {shape} does not fit scores of shape {full:?}")
        },
    )
}

/// Log-probabilities `[time, batch, classes]` of labels `[batch, length]`, each side with its
/// lengths `[batch]`, and one of the classes for no label.
pub(crate) fn labelled(
    log_probs: &TensorIr,
    targets: &TensorIr,
    input_lengths: &TensorIr,
    target_lengths: &TensorIr,
    blank: &usize,
) -> Outcome {
    rank(log_probs, 3)?;
    rank(targets, 2)?;
    let [batch, classes] = [log_probs.shape[1], log_probs.shape[2]];
    shaped(targets, &[batch, targets.shape[1]])?;
    shaped(input_lengths, &[batch])?;
    shaped(target_lengths, &[batch])?;
    ensure(*blank < classes, || {
        alloc::format!("`blank` is {blank}, but there are {classes} classes")
    })
}

/// The loss has an element for each sequence of the batch.
pub(crate) fn per_sequence(log_probs: &TensorIr, loss: &TensorIr) -> Outcome {
    rank(log_probs, 3)?;
    shaped(loss, &[log_probs.shape[1]])
}

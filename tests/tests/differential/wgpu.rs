//! The cases on wgpu, on any Vulkan driver: bit for bit what burn-router's interpreter makes of them
//! there, and what Flex makes of them, floats within a tolerance.
//!
//! Bools are bytes: wgpu has no native ones. Cases in F64 are left out: the functions of SPIR-V are
//! not defined for it, and most GPUs do not have it.

use burn_backend::{BoolStore, DType, TensorData};
use burn_flex::Flex;
use burn_ir::TensorStatus;
use burn_wgpu::Wgpu;
use interpreter_tests::{BOOL, Case, Ran, Verdict, compare, run};

use crate::refused;

/// The bools of wgpu.
const BYTES: DType = DType::Bool(BoolStore::U8);

/// Rows whose kernels Mesa's software driver does not survive: it takes the process down while it
/// reads their SPIR-V, so there is no message. Seen with Mesa 22.3, that of Debian 12.
const CRASHING: &[&str] = &[
    "float.Matmul",
    "int.Matmul",
    "module.Attention",
    "module.CtcLoss",
    "module.CtcLossBackward",
    "module.DeformableConv2d",
    "module.DeformableConv2dBackward",
    "module.Linear",
    "module.LinearWeightBackward",
    "module.LinearXBackward",
    "numeric.Mean.int",
    "numeric.Sum.float",
    "numeric.Sum.int",
];

/// Rows of which burn-wgpu makes something else each time on that driver, whoever calls it: it reads
/// memory that its kernels have not written.
const UNSTABLE: &[&str] = &[
    "module.MaxPool1dWithIndices",
    "module.MaxPool2dWithIndices",
    "numeric.ArgTopK.float",
    "numeric.ArgTopK.int",
    "numeric.TopK.float",
    "numeric.TopK.int",
    "numeric.TopKWithIndices.float",
    "numeric.TopKWithIndices.int",
];

/// How far floats may be from those of Flex, and why. Rows that are in no list are exact.
struct Tolerance {
    rows: &'static [&'static str],
    relative: f64,
    absolute: f64,
    #[expect(dead_code, reason = "for whoever reads the list")]
    reason: &'static str,
}

const TOLERANCES: &[Tolerance] = &[
    Tolerance {
        rows: &[
            "activation.Gelu",
            "activation.LogSigmoid",
            "activation.LogSigmoidBackward",
            "activation.Sigmoid",
            "activation.SigmoidBackward",
            "float.ArcCosh",
            "float.ArcSinh",
            "float.ArcTanh",
            "float.Cosh",
            "float.Erf",
            "float.Exp",
            "float.Hypot",
            "float.Log",
            "float.Log1p",
            "float.Powf",
            "float.PowfScalar",
            "float.Recip",
            "float.Sinh",
            "float.Sqrt",
            "float.Tanh",
            "numeric.Div.float",
            "numeric.DivScalar.float",
            "numeric.Powi.float",
            "numeric.PowiScalar.float",
        ],
        relative: 1e-5,
        absolute: 1e-6,
        reason: "Vulkan asks a few units in the last place of divisions, exponentials, logarithms \
                 and what is made of them",
    },
    Tolerance {
        rows: &[
            "float.ArcCos",
            "float.ArcSin",
            "float.ArcTan",
            "float.ArcTan2",
            "float.Cos",
            "float.Sin",
            "float.Tan",
        ],
        relative: 5e-4,
        absolute: 5e-4,
        reason: "Vulkan asks 2^-11 of sine and cosine, and 4096 units in the last place of their \
                 inverses",
    },
    Tolerance {
        rows: &[
            "activation.LogSoftmax",
            "activation.Softmax",
            "activation.Softmin",
            "float.GridSample2d",
            "module.AdaptiveAvgPool1d",
            "module.AdaptiveAvgPool1dBackward",
            "module.AdaptiveAvgPool2d",
            "module.AdaptiveAvgPool2dBackward",
            "module.AdaptiveAvgPool3d",
            "module.AdaptiveAvgPool3dBackward",
            "module.AvgPool1d",
            "module.AvgPool1dBackward",
            "module.AvgPool2d",
            "module.AvgPool2dBackward",
            "module.BatchNorm",
            "module.Conv1d",
            "module.Conv1dBiasBackward",
            "module.Conv1dWeightBackward",
            "module.Conv1dXBackward",
            "module.Conv2d",
            "module.Conv2dBiasBackward",
            "module.Conv2dWeightBackward",
            "module.Conv2dXBackward",
            "module.Conv3d",
            "module.Conv3dBiasBackward",
            "module.Conv3dWeightBackward",
            "module.Conv3dXBackward",
            "module.ConvTranspose1d",
            "module.ConvTranspose1dBiasBackward",
            "module.ConvTranspose1dWeightBackward",
            "module.ConvTranspose2d",
            "module.ConvTranspose2dBiasBackward",
            "module.ConvTranspose2dWeightBackward",
            "module.ConvTranspose3d",
            "module.ConvTranspose3dBiasBackward",
            "module.ConvTranspose3dWeightBackward",
            "module.EmbeddingBackward",
            "module.Interpolate",
            "module.InterpolateBackward",
            "module.LayerNorm",
            "module.LinearBiasBackward",
            "numeric.CumProd.float",
            "numeric.CumSum.float",
            "numeric.Mean.float",
            "numeric.MeanDim.float",
            "numeric.Prod.float",
            "numeric.ProdDim.float",
            "numeric.SumDim.float",
            "numeric.SumDims.float",
        ],
        relative: 1e-4,
        absolute: 1e-5,
        reason: "sums and products are computed in another order, and may be fused",
    },
    Tolerance {
        rows: &["activation.GeluBackward"],
        relative: 2e-3,
        absolute: 2e-3,
        reason: "Flex has the exact gradient, burn-cubecl an approximation by a hyperbolic tangent",
    },
];

/// Rows that burn-router executes on no backend, at least one of their cases: they are only compared
/// with Flex.
const ONLY_OURS: &[&str] = &[
    "base.Cast.bool",
    "base.Cast.int",
    "base.GatherNd.bool",
    "base.Scatter.bool",
    "base.ScatterNd.bool",
    "base.SelectAssign.bool",
];

/// Rows whose numbers come from a generator, and every backend has its own.
const RANDOM: &[&str] = &["float.Random", "numeric.IntRandom.int"];

/// The cases that wgpu can be asked, beside the same in Flex's dtypes.
fn cases() -> Vec<(Case, Case)> {
    let is_left_out = |name| CRASHING.contains(&name) || UNSTABLE.contains(&name);
    let pairs = [crate::cases(), refused::cases()]
        .concat()
        .into_iter()
        .filter_map(|native| {
            let case = native.with_dtype(BOOL, BYTES);
            let case = case.unwrap_or_else(|| native.clone());
            let has_f64 = case.with_dtype(DType::F64, DType::F32).is_some();
            (!has_f64 && !is_left_out(case.name())).then_some((case, native))
        });
    pairs.collect()
}

/// No case is refused: what wgpu lacks, it lacks by the driver, above.
fn assert_same_through_both(status: TensorStatus) {
    let mut failures = Vec::new();
    for (case, _) in cases() {
        let name = case.name();
        match compare::<Wgpu>(&case, status) {
            Verdict::Same | Verdict::SameAsDeclared => {}
            Verdict::OnlyOurs(..) if ONLY_OURS.contains(&name) => {}
            verdict => failures.push(format!("{name}: {verdict:?}\n  {:?}", case.op)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn wgpu_with_inputs_that_stay() {
    assert_same_through_both(TensorStatus::ReadOnly);
}

#[test]
fn wgpu_with_inputs_at_their_last_use() {
    assert_same_through_both(TensorStatus::ReadWrite);
}

/// The largest factor by which a float is farther away than it may be, beyond 1 for a failure.
fn excess(expected: &TensorData, found: &TensorData, tolerance: Option<&Tolerance>) -> f64 {
    let (relative, absolute) = tolerance.map_or((0.0, 0.0), |it| (it.relative, it.absolute));
    let pairs = expected.iter::<f64>().zip(found.iter::<f64>());
    let excesses = pairs.map(|(expected, found)| {
        if expected == found || (expected.is_nan() && found.is_nan()) {
            return 0.0;
        }
        let distance = (expected - found).abs() / (absolute + relative * expected.abs());
        if distance.is_nan() {
            f64::INFINITY
        } else {
            distance
        }
    });
    excesses.fold(0.0, f64::max)
}

/// What is wrong with an output, if anything is.
fn complaint(name: &str, expected: &Ran, found: &Ran) -> Option<String> {
    let tolerance = TOLERANCES.iter().find(|it| it.rows.contains(&name));
    let mut pairs = expected.outputs.iter().zip(&found.outputs);
    let outputs = pairs.find_map(|(expected, found)| {
        let is_same = expected.dtype() == found.dtype() && expected.shape() == found.shape();
        let tolerance = tolerance.filter(|_| expected.dtype().is_float());
        let is_near = is_same && excess(expected, found, tolerance) <= 1.0;
        (!is_near).then(|| format!("{name}: {expected} on Flex, {found} on wgpu"))
    });
    let alive = (expected.alive != found.alive).then(|| format!("{name}: other tensors live"));
    outputs.or(alive)
}

#[test]
fn wgpu_agrees_with_flex() {
    let mut complaints = Vec::new();
    for (case, native) in cases() {
        let name = case.name();
        let status = TensorStatus::ReadOnly;
        let flex = run::<Flex, burn_interpreter::TensorInterpreter<Flex>>(
            &native,
            &native.op_with(status),
        );
        let wgpu =
            run::<Wgpu, burn_interpreter::TensorInterpreter<Wgpu>>(&case, &case.op_with(status));
        if let (Ok(flex), Ok(mut wgpu)) = (flex, wgpu) {
            wgpu.convert(&native.op);
            if !RANDOM.contains(&name) {
                complaints.extend(complaint(name, &flex, &wgpu));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

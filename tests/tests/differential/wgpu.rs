use crate::cases;
use burn_backend::TensorData;
use burn_flex::Flex;
use burn_ir::{OperationIr, TensorStatus};
use burn_wgpu::Wgpu;
use interpreter_tests::{Case, Ran, run};
use std::collections::BTreeMap;

#[test]
fn explore() {
    use burn_backend::{Backend, BoolStore, DType, DeviceOps};
    let device: burn_backend::cubecl::Device = Default::default();
    eprintln!("SETTINGS {:?}", device.defaults());
    for dtype in [
        DType::F64,
        DType::I64,
        DType::I32,
        DType::U8,
        DType::Bool(BoolStore::Native),
        DType::Bool(BoolStore::U8),
        DType::Bool(BoolStore::U32),
    ] {
        eprintln!("USAGE {dtype:?} {:?}", Wgpu::dtype_usage(&device, dtype));
    }
    let start: usize = std::env::var("START").map_or(0, |s| s.parse().unwrap_or(0));
    for (i, native) in cases().into_iter().enumerate().skip(start) {
        eprintln!("AT {i} {}", native.name());
        let case = native
            .with_dtype(DType::Bool(BoolStore::Native), DType::Bool(BoolStore::U32))
            .unwrap_or_else(|| native.clone());
        if case
            .op
            .inputs()
            .chain(case.op.outputs())
            .any(|t| !Wgpu::supports_dtype(&device, t.dtype))
        {
            eprintln!("CASE {} SKIP", case.name());
            continue;
        }
        let native_op = native.op_with(TensorStatus::ReadOnly);
        let op = case.op_with(TensorStatus::ReadOnly);
        let theirs = run::<Flex, burn_router::TensorInterpreter<Flex>>(&native, &native_op);
        let up = run::<Wgpu, burn_router::TensorInterpreter<Wgpu>>(&case, &op);
        let ours = run::<Wgpu, burn_interpreter::TensorInterpreter<Wgpu>>(&case, &op);
        let dt: Vec<_> = op
            .inputs()
            .chain(op.outputs())
            .map(|t| format!("{:?}", t.dtype))
            .collect();
        match (theirs, ours) {
            (Ok(mut theirs), Ok(ours)) => {
                theirs.convert(&op);
                let diff = theirs
                    .outputs
                    .iter()
                    .zip(&ours.outputs)
                    .map(|(a, b)| {
                        if a.as_bytes() == b.as_bytes()
                            && a.dtype() == b.dtype()
                            && a.shape() == b.shape()
                        {
                            return "same".to_string();
                        }
                        if a.dtype() != b.dtype() || a.shape() != b.shape() {
                            return format!(
                                "shape/dtype {:?} {:?} {:?} {:?}",
                                a.dtype(),
                                b.dtype(),
                                a.shape(),
                                b.shape()
                            );
                        }
                        let (x, y): (Vec<f64>, Vec<f64>) =
                            (a.iter::<f64>().collect(), b.iter::<f64>().collect());
                        let abs = x
                            .iter()
                            .zip(&y)
                            .map(|(x, y)| (x - y).abs())
                            .fold(0.0, f64::max);
                        let rel = x
                            .iter()
                            .zip(&y)
                            .map(|(x, y)| (x - y).abs() / x.abs().max(1e-30))
                            .fold(0.0, f64::max);
                        format!(
                            "abs {abs:.2e} rel {rel:.2e}{}",
                            if a.dtype().is_float() {
                                ""
                            } else {
                                " NOTFLOAT"
                            }
                        )
                    })
                    .collect::<Vec<_>>();
                let alive = theirs.alive == ours.alive;
                let upok = match &up {
                    Ok(u) => {
                        if u.outputs
                            .iter()
                            .zip(&ours.outputs)
                            .all(|(a, b)| a.as_bytes() == b.as_bytes())
                        {
                            "up=same"
                        } else {
                            "up=DIFF"
                        }
                    }
                    Err(_) => "up=ERR",
                };
                eprintln!("CASE {} {dt:?} {diff:?} alive={alive} {upok}", case.name());
            }
            (t, o) => eprintln!(
                "CASE {} {dt:?} FLEX {:?} WGPU {:?} UP {:?}",
                case.name(),
                t.err(),
                o.err(),
                up.err()
            ),
        }
    }
}
